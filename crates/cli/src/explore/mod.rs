//! What `explore` is made of: settings, storage, an audience, findings, pictures and the result.

pub mod accident;
pub mod candidates;
pub mod causes;
mod cells;
pub mod contact;
pub mod drawing;
pub mod facts;
mod fence;
pub mod finding_pictures;
pub mod graph;
mod ground;
pub mod groups;
pub mod human;
pub mod journey;
pub mod meter;
pub mod pictures;
pub mod probability;
pub mod resume;
pub mod settings;
pub mod since;
pub mod store;
pub mod subject;
mod views;
pub mod watcher;
mod way;
pub mod why;
pub mod world;
