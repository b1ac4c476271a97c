//! Room `scenario`; see `docs/ARCHITECTURE.md`.
