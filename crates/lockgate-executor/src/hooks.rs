//! The hooks of a gate: what may stop a call that the policy let pass.
//!
//! ```text
//! policy: allow or ask ──► hook 1 ──► hook 2 ──► … ──► approval ──► intent ──► handler
//!                            └────────────┴─ a veto, an error, a panic, no answer in time: blocked
//! ```
//!
//! They are asked in the order in which the gate was given them; the first that does not let the call pass ends it, and no
//! later one is asked.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use lockgate_contract::outcome::Code;
use lockgate_contract::ports::{HookAnswer, HookedCall, PolicyDecision, VetoHook};
use lockgate_registry::discovery::matches_rule;

use crate::error::GateError;
use crate::exit::{Exit, Refusal};
use crate::trail::{Trail, panic_text, shortened};
use crate::validated::Validated;

/// A hook that may stop calls, as a gate has it.
#[derive(Clone)]
pub struct Veto {
    name: String,
    tools: ToolNames,
    timeout: Duration,
    hook: Arc<dyn VetoHook>,
}

/// Which tools something is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolNames {
    /// All of them.
    #[default]
    All,
    /// Those of these names; `*` stands for any characters.
    Only(Vec<String>),
}

tokio::task_local! {
    /// Set while a hook is asked: a call that it sends itself would ask it again, and so on.
    static ASKING: ();
}

impl Veto {
    /// A hook for the calls of every tool, which has 5 seconds to answer. The name is what audits call it: `hook:NAME`.
    pub fn new(name: impl Into<String>, hook: Arc<dyn VetoHook>) -> Self {
        Self { name: name.into(), tools: ToolNames::All, timeout: Duration::from_secs(5), hook }
    }

    /// Only for calls of these tools.
    #[must_use]
    pub fn of_tools(mut self, tools: ToolNames) -> Self {
        self.tools = tools;
        self
    }

    /// How long an answer is waited for.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Asks it. Only `Ok(Pass)` lets the call pass.
    async fn asked(&self, call: HookedCall<'_>) -> Result<HookAnswer, String> {
        if ASKING.try_with(|()| ()).is_ok() {
            return Err("is not asked about calls that a hook sends itself".to_owned());
        }
        let answer = AssertUnwindSafe(ASKING.scope((), async { self.hook.before(call).await })).catch_unwind();
        match answer.await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(format!("failed: {error}")),
            Err(panic) => Err(format!("panicked: {}", panic_text(panic))),
        }
    }
}

impl ToolNames {
    /// Whether a tool is among them.
    pub fn covers(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(rules) => rules.iter().any(|rule| matches_rule(rule, tool)),
        }
    }
}

impl Validated<'_> {
    /// Asks every hook that is about this tool, until one does not let the call pass.
    pub(crate) async fn ask_the_hooks(&self, trail: &mut Trail<'_>) -> Result<(), Exit> {
        let (gate, scope, tool) = (self.gate(), self.scope(), self.tool().spec());
        for veto in gate.vetoes.iter().filter(|veto| veto.tools.covers(tool.name())) {
            let call = HookedCall {
                run_id: scope.log.run_id(),
                call_id: &self.call().call_id,
                step: self.call().step,
                subject: &scope.subject,
                tool,
                arguments: self.arguments(),
                arguments_digest: self.arguments_digest(),
                timeout: veto.timeout,
            };
            let answer = tokio::select! {
                biased;
                answer = veto.asked(call) => answer,
                () = scope.cancel.cancelled() => return Err(Exit::Cancelled { started: false }),
                () = tokio::time::sleep(veto.timeout) => Err("failed: no answer in time".to_owned()),
            };
            let why = match answer {
                Ok(HookAnswer::Pass) => continue,
                Ok(HookAnswer::Veto(reason)) => format!("blocks the call: {reason}"),
                Err(failure) => failure,
            };
            trail.audit.decision = Some(PolicyDecision::Deny.word().into());
            trail.audit.policies.push(format!("hook:{}", veto.name));
            let audit = shortened(gate.scrub_audit(&format!("hook `{}` {why}", veto.name)));
            return Err(Refusal::new(Code::PolicyDenied, audit).reason("hook").into());
        }
        Ok(())
    }
}

/// Each has a name of its own, of one word.
pub(crate) fn check_names(vetoes: &[Veto]) -> Result<(), GateError> {
    let plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    for (place, Veto { name, .. }) in vetoes.iter().enumerate() {
        if name.is_empty() || !name.chars().all(plain) {
            return Err(GateError::HookName(name.clone()));
        }
        if vetoes[..place].iter().any(|earlier| earlier.name == *name) {
            return Err(GateError::HookTwice(name.clone()));
        }
    }
    Ok(())
}

impl fmt::Debug for Veto {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, tools, timeout, hook: _ } = self;
        formatter
            .debug_struct("Veto")
            .field("name", name)
            .field("tools", tools)
            .field("timeout", timeout)
            .finish_non_exhaustive()
    }
}
