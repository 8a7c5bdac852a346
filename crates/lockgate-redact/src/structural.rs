//! Secrets that are recognised by what stands around them.

pub(crate) mod assignment;
pub(crate) mod authorization;
pub(crate) mod pem;
pub(crate) mod url;
