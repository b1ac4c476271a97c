//! Room `driving`; see `docs/ARCHITECTURE.md`.
