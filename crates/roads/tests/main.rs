//! The network and its files, as others use them.

mod files;
mod frenet;
mod junctions;
mod making;
mod routes;
