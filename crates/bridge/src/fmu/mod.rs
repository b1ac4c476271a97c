//! FMUs (FMI 2.0 and 3.0, co-simulation) as drivers, and as blocks for parts of a plant.
//!
//! A [`Package`] is unpacked and described, and none of its code has run. An [`Fmu`] is loaded: from then on a foreign binary
//! runs in this process and may end it. So the host only opens packages; a process of its own serves a [`FmuInstance`], and a
//! [`FmuFactory`] starts such processes.
//! `docs/fmu.md` tells how variables are mapped.

mod archive;
mod block;
mod component;
mod description;
mod driver;
mod error;
mod factory;
mod functions;
mod log;
mod package;
mod place;
mod platform;
mod port;

pub use archive::ArchiveLimits;
pub use block::{BlockState, FmuBlock};
pub use component::{Component, Fmu, State};
pub use description::{Capabilities, Causality, Description, Dimensions, FmiVersion, Unit, Variable, Wire};
pub use driver::{FmuInstance, FmuMapping, FmuRole, InputSource, KeyCell, Signal, Told, check_mapping, folded};
pub use error::{FmuError, Status};
pub use factory::{FmuFactory, FmuSpec, SERVE_VERB};
pub use log::forward_to_standard_error;
pub use package::Package;
pub use port::{Bundle, Port};
