//! Room `sensing`; see `docs/ARCHITECTURE.md`.
