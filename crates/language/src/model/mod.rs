//! Meaning: types, parameters, instances, connectors, order; and the model they make together.

mod behaviour;
pub mod build;
pub(crate) mod check;
pub mod connect;
pub mod delay;
pub mod env;
pub mod initial;
pub mod instance;
pub mod native;
pub mod order;
pub mod range;
pub mod ty;
pub mod types;
pub mod wire;
