//! What `search` is made of: a space from the scenario, objectives, scorers, storage, findings and the result.

pub mod bench;
pub mod contest;
pub mod facts;
pub mod findings;
pub mod human;
pub mod instance;
pub mod junction;
mod junction_accident;
mod junction_pictures;
mod junction_told;
pub mod measure;
pub mod objective;
pub mod outside;
pub mod rules;
pub mod scorer;
pub mod space;
pub mod store;
