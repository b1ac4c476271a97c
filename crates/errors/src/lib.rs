//! Room `errors`; see `docs/ARCHITECTURE.md`.
