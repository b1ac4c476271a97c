//! Room `vehicle`; see `docs/ARCHITECTURE.md`.
