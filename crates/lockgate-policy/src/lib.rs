//! May this call run? The decisions that ship with Lockgate, behind the contract's ports for policies and hooks.
//!
//! It owns how a declared permission, a rule of the operator's, or what somebody else says becomes an answer. What an approval is bound to stands in the
//! contract; who asks, and when, is the executor's.

#[cfg(any(feature = "cedar", feature = "http-policy"))]
mod approvers;
#[cfg(feature = "cedar")]
pub mod cedar;
#[cfg(feature = "http-policy")]
mod decision_point;
mod native;
mod program_hook;
mod shadow;

#[cfg(feature = "http-policy")]
pub use decision_point::{DecisionPoint, DecisionPointError, DecisionPointOptions};
pub use native::NativePolicy;
pub use program_hook::ProgramHook;
pub use shadow::ShadowedPolicy;
