//! From events, results and records to text for people. Pure functions: nothing here prints.

pub(crate) mod approval;
pub(crate) mod call;
pub(crate) mod defect;
pub(crate) mod event;
pub(crate) mod json;
pub(crate) mod outcome;
#[cfg(feature = "cedar")]
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod tool;
