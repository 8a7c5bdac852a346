//! The port to the hooks in front of a call: may it stop here?

use std::time::Duration;

use crate::arguments::Arguments;
use crate::digest::Digest;
use crate::ids::{CallId, RunId};
use crate::ports::BoxFuture;
use crate::subject::Subject;
use crate::tool::ToolSpec;

/// Looks at a call that the policy let pass, before anybody is asked about it and before its intent is written. It can stop the
/// call, and nothing else: it has no way to allow, to approve, to relax, or to change arguments.
///
/// It is asked whenever the call comes this far: again when a person said yes and the run goes on, and again when the call had
/// to wait behind another one. So it must do nothing but look.
pub trait VetoHook: Send + Sync {
    /// Answers for one call. An error blocks the call, as a veto does; so does a panic, and no answer in time.
    fn before<'a>(&'a self, call: HookedCall<'a>) -> BoxFuture<'a, Result<HookAnswer, String>>;
}

/// What a hook may look at.
#[derive(Debug, Clone, Copy)]
pub struct HookedCall<'a> {
    /// The run.
    pub run_id: &'a RunId,
    /// The call.
    pub call_id: &'a CallId,
    /// The model turn, from zero.
    pub step: u32,
    /// On whose behalf.
    pub subject: &'a Subject,
    /// The tool at its registered version.
    pub tool: &'a ToolSpec,
    /// The arguments as they will run, with whatever secrets they hold: what leaves the process is scrubbed first.
    pub arguments: &'a Arguments,
    /// Their digest.
    pub arguments_digest: Digest,
    /// How long the answer is waited for.
    pub timeout: Duration,
}

/// What a hook answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAnswer {
    /// Nothing stands in the way, as far as this hook goes.
    Pass,
    /// The call does not run. Why, for people: it is scrubbed, and never shown to a model.
    Veto(String),
}
