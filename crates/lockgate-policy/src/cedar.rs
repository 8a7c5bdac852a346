//! Rules in Cedar's language decide (feature `cedar`).
//!
//! ```text
//!   registered tools ──► schema ──┐
//!                                 ├──► a set that loaded ──► slices ──► allow | ask | deny, by which rules
//!   files of rules ──► parsed ────┘        examples hold
//! ```
//!
//! - *Cedar knows allow and deny.* A call that is not allowed is decided a second time as if somebody had approved it: if it is
//!   allowed then, a person is asked. Whose yes it needs, how long the question stays open and why it is asked stand in the
//!   annotations of the rules that ask.
//! - *Closed.* What no rule permits is denied, one rule that forbids is enough, and a rule that cannot be evaluated denies,
//!   whether it would have mattered or not. Rules that do not load change nothing.
//! - *Who acts comes from the runtime's [`Subject`](lockgate_contract::subject::Subject)*, never from arguments (R-167).
//! - The crate `cedar-policy` is seen by one module, `adapter`.

mod adapter;
mod cap;
mod error;
mod examples;
mod facts;
mod files;
mod input;
mod outlook;
#[cfg(feature = "prove")]
mod prove;
mod question;
mod reads;
mod remembered;
mod rule;
mod rules;
mod shape;
mod slice;
mod supposed;
mod told;
mod tools;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use lockgate_contract::ports::{BoxFuture, Clock, Count, PolicyEngine, PolicyRequest, PolicyVerdict};
use lockgate_contract::tool::ToolSpec;

pub use self::error::{Defect, RulesRefused};
pub use self::facts::{Fact, Facts, Untyped};
pub use self::files::{RuleFile, RuleFiles, SHIPPED};
pub use self::outlook::Outlook;
#[cfg(feature = "prove")]
pub use self::prove::{Counterexample, NoSolver, Open, Proof, Property, Prover, Standing};
pub use self::remembered::{LONGEST, NotRemembered, Remembered, ToRemember};
pub use self::rules::Rules;
pub use self::told::{NearMiss, RuleText};

/// Decides by a set of rules, which may be replaced while calls are decided.
///
/// ```
/// use std::sync::Arc;
/// # use std::time::Duration;
/// # use lockgate_contract::{effect::Effect, ports::Clock, time::Timestamp, tool::ToolSpec};
/// use lockgate_policy::cedar::{CedarPolicy, RuleFile, Rules};
/// # struct Noon;
/// # impl Clock for Noon {
/// #     fn now(&self) -> Timestamp { Timestamp::default() }
/// #     fn monotonic(&self) -> Duration { Duration::ZERO }
/// # }
/// # let tool = ToolSpec::builder("look_up").effect(Effect::Read).build()?;
///
/// let text = r#"
///     // expect: allow {"tool": "look_up"}
///     @id("reads")
///     permit (principal, action in Effect::Action::"read", resource);
/// "#;
/// let rules = Rules::load([&tool], &[RuleFile { name: "reads.cedar".to_owned(), text: text.to_owned() }])?;
/// assert_eq!((rules.len(), rules.examples()), (1, 1));
/// let policy = CedarPolicy::new(rules, Arc::new(Noon));
/// # let _ = policy;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CedarPolicy {
    clock: Arc<dyn Clock>,
    files: Option<RuleFiles>,
    rules: RwLock<Arc<Rules>>,
    acts: bool,
}

impl CedarPolicy {
    /// Decides by these rules.
    pub fn new(rules: Rules, clock: Arc<dyn Clock>) -> Self {
        Self { clock, files: None, rules: RwLock::new(Arc::new(rules)), acts: true }
    }

    /// Decides by the rules of these files, about these tools, by these counts.
    ///
    /// # Errors
    ///
    /// As [`RuleFiles::read`] and [`Rules::load_counting`].
    pub fn read<'t>(
        files: RuleFiles,
        tools: impl IntoIterator<Item = &'t ToolSpec>,
        counts: Vec<Count>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, RulesRefused> {
        let rules = Rules::load_counting(tools, counts, &files.read()?)?;
        Ok(Self { files: Some(files), ..Self::new(rules, clock) })
    }

    /// The same, and rules can read that nothing is done by their answer (`context.shadow`).
    #[must_use]
    pub fn in_shadow(self) -> Self {
        Self { acts: false, ..self }
    }

    /// The rules that decide now.
    pub fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files again, and decides by them from now on if they are others; calls that are being decided end under the
    /// rules that they began under. Blocks while it reads and checks. Returns whether they are others. Without files nothing changes.
    ///
    /// # Errors
    ///
    /// As [`RuleFiles::read`] and [`Rules::load`]. The rules before stay in force.
    pub fn reload(&self) -> Result<bool, RulesRefused> {
        let Some(files) = &self.files else {
            return Ok(false);
        };
        let (current, files) = (self.rules(), files.read()?);
        if Rules::digest_of(&files) == current.digest() {
            return Ok(false);
        }
        let rules = Arc::new(current.reload(&files)?);
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
        Ok(true)
    }

    /// Decides by the same rules, about these tools, from now on; calls that are being decided end under the rules that they began
    /// under. Done before a registry changes, so that no tool is there that the rules were not checked against. Blocks while it reads
    /// and checks.
    ///
    /// # Errors
    ///
    /// As [`Rules::for_tools`]. The rules before stay in force.
    pub fn follow<'t>(&self, tools: impl IntoIterator<Item = &'t ToolSpec>) -> Result<(), RulesRefused> {
        let rules = Arc::new(self.rules().for_tools(tools)?);
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
        Ok(())
    }

    /// Decides one call, at once, by the numbers that are known already.
    pub fn verdict(&self, request: &PolicyRequest<'_>) -> PolicyVerdict {
        self.rules().decide(request, self.clock.now(), !self.acts)
    }
}

impl PolicyEngine for CedarPolicy {
    fn decide<'a>(&'a self, request: PolicyRequest<'a>) -> BoxFuture<'a, Result<PolicyVerdict, String>> {
        let rules = self.rules();
        let counts = rules.counts(request.tool, request.subject);
        if counts.is_empty() {
            let verdict = rules.decide(&request, self.clock.now(), !self.acts);
            return Box::pin(std::future::ready(Ok(verdict)));
        }
        Box::pin(async move {
            if self.acts {
                request.counts.read(&counts).await?;
            } else {
                request.counts.look(&counts).await?;
            }
            Ok(rules.decide(&request, self.clock.now(), !self.acts))
        })
    }
}

impl fmt::Debug for CedarPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = self.rules();
        f.debug_struct("CedarPolicy")
            .field("digest", &rules.digest())
            .field("files", &rules.files())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
