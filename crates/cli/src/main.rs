//! The `anabranch` command line.

fn main() {}
