//! Room `explore`; see `docs/ARCHITECTURE.md`.
