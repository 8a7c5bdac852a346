//! May this call run? The native decision and what an approval binds.
