//! Room `monitors`; see `docs/ARCHITECTURE.md`.
