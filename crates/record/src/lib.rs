//! Room `record`; see `docs/ARCHITECTURE.md`.
