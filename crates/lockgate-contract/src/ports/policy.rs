//! The port to the policy: may this call run?

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::arguments::Arguments;
use crate::digest::Digest;
use crate::effect::Permission;
use crate::ports::{BoxFuture, Counts};
use crate::run::RunFacts;
use crate::subject::Subject;
use crate::tool::ToolSpec;

/// Decides whether a call may run. It is asked after the schema and the tool's own check, for every call, also
/// when an approval exists.
pub trait PolicyEngine: Send + Sync {
    /// Decides one call. An error is a denial.
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>>;
}

/// What a policy may look at: facts of the runtime, nothing that a model said about itself.
#[derive(Debug, Clone, Copy)]
pub struct PolicyRequest<'a> {
    /// On whose behalf.
    pub subject: &'a Subject,
    /// The tool at its registered version.
    pub tool: &'a ToolSpec,
    /// The arguments as they will run.
    pub arguments: &'a Arguments,
    /// Their digest.
    pub arguments_digest: Digest,
    /// The declared permission, relaxed if the tool proved this call harmless.
    pub permission: Permission,
    /// The model turn, from zero.
    pub step: u32,
    /// What the run did so far, and what it may still do.
    pub run: RunFacts,
    /// How many calls were admitted, for an engine that wants to know.
    pub counts: &'a Counts<'a>,
}

/// The answer, and what determined it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyVerdict {
    /// Allow, ask or deny.
    pub decision: PolicyDecision,
    /// The ids of the policies that determined it, for the audit.
    pub policies: Vec<String>,
    /// Why, for people.
    pub reason: String,
    /// What the answer demands besides.
    pub obligations: Obligations,
}

impl PolicyVerdict {
    /// An answer that demands nothing besides.
    pub fn new(decision: PolicyDecision, policies: Vec<String>, reason: impl Into<String>) -> Self {
        Self { decision, policies, reason: reason.into(), obligations: Obligations::default() }
    }
}

/// What an answer demands of the question that it leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Obligations {
    /// Who has to say yes; absent: any one person who may decide.
    pub approvers: Option<Approvers>,
    /// How long the question stays open, in place of the gate's own time.
    pub expires_in: Option<Duration>,
    /// Why it is asked, in the words of whoever wrote the rule; for people.
    pub because: Option<String>,
}

/// Whose yes a question needs. Each yes is another person's, and none the subject's own: four eyes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approvers {
    /// The roles of which each of them has at least one; empty: anybody.
    pub roles: Vec<String>,
    /// How many.
    pub count: u32,
}

/// Allow, ask a person, or deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyDecision {
    /// The call may run.
    Allow,
    /// The call may run once a person approved it.
    Ask,
    /// The call may not run, whatever anybody approved.
    Deny,
}

impl PolicyDecision {
    /// The word in audits and texts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}
