//! The engine, the targets and the store.
