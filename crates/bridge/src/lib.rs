//! Room `bridge`; see `docs/ARCHITECTURE.md`.
