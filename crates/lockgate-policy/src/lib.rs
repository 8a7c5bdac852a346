//! May this call run? The decisions that ship with Lockgate, behind the contract's policy port.
//!
//! It owns how a declared permission becomes an answer. What an approval is bound to stands in the contract; who asks, and
//! when, is the executor's.

mod native;

pub use native::NativePolicy;
