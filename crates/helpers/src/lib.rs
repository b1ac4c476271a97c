//! Helper simulators beside the main one: each has its own clock, and all of them branch and merge with it (S2-22).
//!
//! A helper is behaviour (`&self`) and a plain state. The loop asks it in every base cycle when it is due and, if it is, lets it
//! advance; in between it costs nothing. A *discrete-time* helper is due once in a period: [`Tyres`]. A *discrete-event* helper is due
//! when its next event is: [`Radio`], whose events are messages on their way. Both use one trait, [`Helper`], and nothing else.
//!
//! ```
//! use anabranch_helpers::{Around, Helper, Nearby, Radio, RadioSpec, Senders, Wrong};
//! use anabranch_kernel::Seed;
//!
//! let radio = Radio::new(RadioSpec { latency_s: 0.12, senders: Senders::All, ..RadioSpec::usual(0.05) });
//! let other = [Nearby { number: 3, x_m: 40.0, speed_mps: 20.0, drives: true, ..Nearby::default() }];
//! let mut state = radio.start();
//! let mut heard_at = None;
//! for tick in 0..10 {
//!     let around = Around { tick, seed: Seed(1), car: Nearby::default(), others: &other, wrong: Wrong::default() };
//!     if radio.due_tick(&state, tick) <= tick {
//!         radio.advance(&mut state, &around);
//!     }
//!     heard_at = heard_at.or((!state.heard.is_empty()).then_some(tick));
//! }
//! assert_eq!(heard_at, Some(3)); // sent at 0, 0.12 s under way: the first base cycle of 0.05 s that is not earlier
//! ```
//!
#![doc = include_str!("../RECIPE.md")]

mod helper;
mod radio;
mod set;
mod tyres;

pub use helper::{Around, Helper, Nearby, SignalFact, Wrong};
pub use radio::{Message, OnItsWay, Radio, RadioSpec, RadioState, Senders};
pub use set::{Helpers, HelpersState};
pub use tyres::{ATMOSPHERE_PA, AxleShare, Tyres, TyresSpec, TyresState, Wheel};
