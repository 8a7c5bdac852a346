//! May this call run? The decisions that ship with Lockgate, behind the contract's policy port.
//!
//! It owns how a declared permission, or a rule of the operator's, becomes an answer. What an approval is bound to stands in the
//! contract; who asks, and when, is the executor's.

#[cfg(feature = "cedar")]
pub mod cedar;
mod native;
#[cfg(feature = "cedar")]
mod shadow;

pub use native::NativePolicy;
#[cfg(feature = "cedar")]
pub use shadow::ShadowedPolicy;
