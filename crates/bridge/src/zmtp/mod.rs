//! The wire protocol of ZeroMQ as far as the bridge needs it: ZMTP 3.0 and 3.1, mechanism NULL, `REQ` and `REP`.
//!
//! Written here instead of taken from a crate because the other side may be anything: no length field makes us
//! allocate, every wait has an end, and one request costs one write and one read
//! ([decision 13](../../../../docs/adr/0013-own-zmtp-over-blocking-sockets.md)). libzmq and pyzmq are the judges of it.

mod address;
mod link;
mod wire;

pub use address::{Address, AddressError, Listener};
pub use link::{Link, LinkError, Side, Stream};
pub use wire::{Frame, GREETING_BYTES};
