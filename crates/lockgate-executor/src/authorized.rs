//! authorized: the tool itself, the budget, the policy, the hooks and, where asked, a person let the call pass.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use lockgate_contract::approval::{Approval, ApprovalState, Binding, Circumstances, shown_text};
use lockgate_contract::digest::Digest;
use lockgate_contract::effect::{EffectState, Permission};
use lockgate_contract::event::{ApprovalRequested, Body, EventType, ToolRelaxed};
use lockgate_contract::ids::ApprovalId;
use lockgate_contract::outcome::Code;
use lockgate_contract::ports::{
    BoxFuture, Count, CountReader, Counts, JournalError, PolicyDecision, PolicyRequest, PolicyVerdict, Seen,
};
use lockgate_contract::run::Limit;
use lockgate_contract::tool::IdempotencyKey;

use crate::considered::effective_permission;
use crate::exit::{Exit, Refusal};
use crate::trail::{Stage, Trail, panic_text};
use crate::validated::Validated;

/// What a model is told where the files that a call would use cannot be looked at.
const CANNOT_LOOK: &str = "The files that this call would use cannot be looked at.";

/// A call that may run.
pub(crate) struct Authorized<'g> {
    validated: Validated<'g>,
    /// What is handed to the tool, and stands in the journal for every effect.
    key: IdempotencyKey,
    /// The granted approval that the next stage uses up.
    approval: Option<Grant>,
    policies: Vec<String>,
    /// What the policy was asked about.
    permission: Permission,
    /// The numbers that its answer depends on.
    seen: Vec<Seen>,
}

/// What the hooks have to do with a decision.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hooks {
    /// They are asked.
    AreAsked,
    /// They were asked about this call before, and let it pass.
    LetPass,
}

/// A granted approval, and the digest that it must be bound to.
#[derive(Clone)]
pub(crate) struct Grant {
    pub(crate) approval_id: ApprovalId,
    pub(crate) digest: Digest,
}

impl<'g> Validated<'g> {
    /// The tool's own check, the limits, the effective permission, the policy, the hooks, and an approval where the policy
    /// asks: in this order (C-15), so that nobody is asked for a call that something else refuses.
    pub(crate) async fn authorize(self, trail: &mut Trail<'g>) -> Result<Authorized<'g>, Exit> {
        self.check_with_the_tool()?;
        self.check_limits()?;
        let permission = self.effective_permission(trail);
        self.decided(permission, Hooks::AreAsked, trail).await
    }

    /// What the policy says, and the approval that it takes.
    async fn decided(
        self,
        permission: Permission,
        hooks: Hooks,
        trail: &mut Trail<'g>,
    ) -> Result<Authorized<'g>, Exit> {
        let ask = async {
            let journal = Journaled(&self);
            let counts = Counts::read_by(&journal);
            let verdict = self.decide(permission, &counts).await;
            // Without the journal nobody knows what the policy would say.
            match counts.failure() {
                Some(error) => Err(storage_unavailable(&error)),
                None => Ok((verdict, counts.seen())),
            }
        };
        let (verdict, seen) = tokio::select! {
            biased;
            answer = ask => answer?,
            () = self.scope().cancel.cancelled() => return Err(Exit::Cancelled { started: false }),
            // A policy that does not answer allows nothing.
            () = async {
                // Made when it is first waited for: an answer that is there at once needs no timer.
                tokio::time::sleep(self.gate().options.call_timeout).await;
            } => {
                return Err(Refusal::new(Code::PolicyDenied, "the policy could not be evaluated: no answer in time").into());
            }
        };
        trail.audit.decision = Some(verdict.decision.word().into());
        trail.audit.policies.clone_from(&verdict.policies);
        let asked = match verdict.decision {
            // A question that was opened for this call counts, also where nobody would ask it any more.
            PolicyDecision::Allow => self.terms().approval.is_some(),
            PolicyDecision::Ask => true,
            PolicyDecision::Deny => return Err(Refusal::new(Code::PolicyDenied, verdict.reason).into()),
        };
        // Nobody is asked for a run that was cancelled, and no approval is used up for one.
        self.go_on()?;
        if hooks == Hooks::AreAsked && !self.gate().vetoes.is_empty() {
            // Apart, so that whoever has no hooks carries nothing for them.
            Box::pin(self.ask_the_hooks(trail)).await?;
            self.go_on()?;
            // They may have taken what was left of the run's time.
            self.check_limits()?;
        }
        if asked && self.terms().approval.is_none() {
            self.look_at_the_key().await?;
        }
        let approval = if asked { Some(self.find_approval(&verdict, trail).await?) } else { None };
        self.go_on()?;
        trail.passed(Stage::Authorized);
        let key = self.request().idempotency_key(self.scope());
        Ok(Authorized { validated: self, key, approval, policies: verdict.policies, permission, seen })
    }

    /// The tool's own local check.
    fn check_with_the_tool(&self) -> Result<(), Refusal> {
        let Some(check) = self.tool().spec().pre_check() else {
            return Ok(());
        };
        check(self.arguments()).map_err(|sentence| {
            Refusal::new(Code::RejectedByTool, format!("the tool's own check: {sentence}")).sentence(sentence)
        })
    }

    /// The limit that the run found, or the run's time, which may have run out since.
    fn check_limits(&self) -> Result<(), Refusal> {
        let too_late = self.scope().deadline.is_some_and(|deadline| self.gate().clock.now() >= deadline);
        match self.terms().over_limit.or(too_late.then_some(Limit::Deadline)) {
            None => Ok(()),
            Some(limit) => {
                Err(Refusal::new(Code::LimitReached, format!("the budget `{limit}` is used up")).reason(limit.word()))
            }
        }
    }

    /// The declared permission, relaxed where the tool proves the call harmless: never tightened, never past a denial, and
    /// always recorded (R-163, R-164, C-11).
    fn effective_permission(&self, trail: &mut Trail<'g>) -> Permission {
        let spec = self.tool().spec();
        let (declared, effective) = (spec.permission(), effective_permission(spec, self.arguments()));
        if effective != declared {
            let tool_name = spec.name().to_owned();
            trail.note(Body::ToolRelaxed(ToolRelaxed { tool_name, from: declared, to: effective }));
        }
        effective
    }

    /// Asks the policy. An error or a panic of it is a denial (architecture rule 9).
    async fn decide(&self, permission: Permission, counts: &Counts<'_>) -> PolicyVerdict {
        let request = PolicyRequest {
            subject: &self.scope().subject,
            tool: self.tool().spec(),
            arguments: self.arguments(),
            arguments_digest: self.arguments_digest(),
            permission,
            step: self.call().step,
            run: self.terms().run,
            counts,
        };
        let failed = |what: String| {
            let reason = format!("the policy could not be evaluated: {what}");
            PolicyVerdict::new(PolicyDecision::Deny, Vec::new(), reason)
        };
        let policy = &self.gate().policy;
        match AssertUnwindSafe(async { policy.decide(request).await }).catch_unwind().await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(error)) => failed(error),
            Err(panic) => failed(panic_text(panic)),
        }
    }

    /// The granted, unused approval of exactly this call; or the question is opened, and the call waits.
    async fn find_approval(&self, verdict: &PolicyVerdict, trail: &mut Trail<'g>) -> Result<Grant, Exit> {
        let (scope, spec) = (self.scope(), self.tool().spec());
        let circumstances = self.circumstances().await?;
        let binding = Binding {
            arguments: self.arguments().document(),
            attempt: Some(self.terms().attempt).filter(|attempt| *attempt > 1),
            call_id: &self.call().call_id,
            circumstances: &circumstances,
            definition: spec.definition(),
            effect: spec.effect(),
            run_id: scope.log.run_id(),
            subject: Binding::subject(&scope.subject),
            tool_name: spec.name(),
        };
        let digest = binding.digest();
        let approval_id = ApprovalId::from_digest(digest);
        trail.audit.approval_id = Some(approval_id.clone());
        if let Some(named) = &self.terms().approval
            && *named != approval_id
        {
            return Err(self.stale(named, &approval_id));
        }
        let stored = self.gate().journal.approval(&approval_id).await.map_err(|error| storage_unavailable(&error))?;
        // What a question that stands needs is what its record says; a policy that asks may want more by now.
        let required = match verdict.decision {
            PolicyDecision::Ask => self.gate().options.approvers_of(&verdict.obligations),
            PolicyDecision::Allow | PolicyDecision::Deny => None,
        };
        let is_enough = |approval: &Approval| required.as_ref().is_none_or(|required| approval.is_enough_for(required));
        let state = |approval: &Approval| self.state_of(approval, verdict);
        match stored.map(|approval| (state(&approval), approval.digest, is_enough(&approval), approval.reason)) {
            None => {
                if !self.terms().may_ask {
                    let audit = "the budget `max_questions` is used up: nobody is asked any more";
                    return Err(Refusal::new(Code::LimitReached, audit).reason("questions").into());
                }
                self.ask(binding, digest, verdict, trail).await?;
                Err(Exit::Open { code: Code::ApprovalRequired, approval: approval_id, audit: verdict.reason.clone() })
            }
            Some((_, bound, ..)) if bound != digest => Err(self.stale(&approval_id, &approval_id)),
            Some((ApprovalState::Granted, _, true, _)) => Ok(Grant { approval_id, digest }),
            Some((ApprovalState::Granted, ..)) => {
                Err(self.no_longer(&approval_id, "is not enough: whose yes it takes has changed since"))
            }
            Some((ApprovalState::Pending, ..)) => {
                Err(Exit::Open { code: Code::ApprovalRequired, approval: approval_id, audit: verdict.reason.clone() })
            }
            // This call was started under it. As long as no result is known, nobody knows what came of that.
            Some((ApprovalState::Consumed, ..)) if spec.effect().changes_something() => {
                let refusal = approval_refused(ApprovalState::Consumed, &approval_id);
                Err(refusal.effect_state(EffectState::Unknown).into())
            }
            Some((state, _, _, said)) => Err(self.told(approval_refused(state, &approval_id), said.as_deref()).into()),
        }
    }

    /// What the call would meet where it runs, as it is now.
    async fn circumstances(&self) -> Result<Circumstances, Exit> {
        let environment = self.gate().options.environment.clone();
        let Some(look) = self.tool().spec().binds_files().cloned() else {
            return Ok(Circumstances { environment, files: BTreeMap::new() });
        };
        let arguments = self.arguments().clone();
        let unseen = |audit: String, sentence: &str| Refusal::new(Code::RejectedByTool, audit).sentence(sentence);
        let looked = tokio::select! {
            biased;
            looked = tokio::task::spawn_blocking(move || look(&arguments)) => looked,
            () = self.scope().cancel.cancelled() => return Err(Exit::Cancelled { started: false }),
            () = tokio::time::sleep(self.gate().options.call_timeout) => {
                return Err(unseen("its files could not be looked at in time".to_owned(), CANNOT_LOOK).into());
            }
        };
        match looked {
            Ok(Ok(files)) => Ok(Circumstances { environment, files }),
            Ok(Err(sentence)) => Err(unseen(format!("its files: {sentence}"), &sentence).into()),
            // It panicked, or the program ends: what is not seen is not bound.
            Err(error) => Err(unseen(format!("its files could not be looked at: {error}"), CANNOT_LOOK).into()),
        }
    }

    fn go_on(&self) -> Result<(), Exit> {
        if self.scope().cancel.is_cancelled() { Err(Exit::Cancelled { started: false }) } else { Ok(()) }
    }

    /// Opens the question. What a person is shown is what was bound, with secrets taken out and the unseen made visible.
    async fn ask(
        &self,
        binding: Binding<'_>,
        digest: Digest,
        verdict: &PolicyVerdict,
        trail: &mut Trail<'g>,
    ) -> Result<(), Exit> {
        let (gate, scope, spec) = (self.gate(), self.scope(), self.tool().spec());
        let requested_at = gate.clock.now();
        let shown = gate.redactor.scrub_document(binding.arguments).unwrap_or_else(|| binding.arguments.clone());
        let files = binding.circumstances.files.iter().map(|(name, digest)| (gate.scrub(name).into_owned(), *digest));
        let circumstances = Circumstances { files: files.collect(), ..binding.circumstances.clone() };
        let approval = Approval {
            approval_id: ApprovalId::from_digest(digest),
            run_id: binding.run_id.clone(),
            call_id: binding.call_id.clone(),
            step: self.call().step,
            attempt: self.terms().attempt,
            tool_name: spec.name().to_owned(),
            tool_version: spec.version().to_owned(),
            definition: binding.definition,
            shown_text: shown_text(
                spec.name(),
                spec.version(),
                binding.effect,
                binding.subject,
                &circumstances,
                &shown,
            ),
            arguments: shown,
            arguments_digest: self.arguments_digest(),
            circumstances,
            effect: binding.effect,
            tenant: scope.subject.tenant.clone(),
            user: scope.subject.user.clone(),
            agent: scope.subject.agent.clone(),
            digest,
            because: verdict.obligations.because.as_deref().map(|because| gate.scrub(because).into_owned()),
            approvers: gate.options.approvers_of(&verdict.obligations),
            edited: None,
            requested_at,
            expires_at: requested_at.after(gate.options.open_for(&verdict.obligations, spec.effect())),
            state: ApprovalState::Pending,
            yeses: Vec::new(),
            decided_by: None,
            decided_at: None,
            reason: None,
            consumed_at: None,
        };
        trail.note(Body::ApprovalRequested(ApprovalRequested {
            approval_id: approval.approval_id.clone(),
            tool_name: approval.tool_name.clone(),
            tool_version: approval.tool_version.clone(),
            effect: approval.effect,
            digest,
            expires_at: approval.expires_at,
            reason: gate.scrub(&verdict.reason).into_owned(),
            policies: verdict.policies.clone(),
            because: approval.because.clone(),
            approvers: approval.approvers.clone(),
            circumstances: approval.circumstances.clone(),
        }));
        match scope.log.ask(approval, trail.pending.clone()).await {
            // Somebody asked the same in the meantime: the question is open, which is all that matters here.
            Ok(()) | Err(JournalError::Exists(_)) => {
                trail.pending.clear();
                Ok(())
            }
            Err(error) => {
                // The call's ending must not tell of a question that is not open, nor repeat what stands.
                trail.pending.retain(|event| event.kind != EventType::ApprovalRequested);
                trail.forget_what_stands().await;
                Err(storage_unavailable(&error))
            }
        }
    }

    /// Where a question stands: also one that is open for longer than it might be by now.
    fn state_of(&self, approval: &Approval, verdict: &PolicyVerdict) -> ApprovalState {
        let gate = self.gate();
        let most = gate.options.at_most(&verdict.obligations, self.tool().spec().effect());
        let is_over = most.is_some_and(|most| gate.clock.now() >= approval.requested_at.after(most));
        match approval.state {
            ApprovalState::Pending | ApprovalState::Granted if is_over => ApprovalState::Expired,
            state => state,
        }
    }

    /// A person's no, with the reason where the model is told it.
    fn told(&self, refusal: Refusal, said: Option<&str>) -> Refusal {
        self.gate().with_reason(refusal, said)
    }

    fn stale(&self, named: &ApprovalId, needed: &ApprovalId) -> Exit {
        self.no_longer(named, &format!("is bound to something else: this call would need `{needed}`"))
    }

    /// An approval that is not what would run now.
    fn no_longer(&self, named: &ApprovalId, why: &str) -> Exit {
        let audit = format!("approval `{named}` {why}");
        if self.scope().stale_approval_settles {
            Refusal::new(Code::ApprovalStale, audit).into()
        } else {
            Exit::Open { code: Code::ApprovalStale, approval: named.clone(), audit }
        }
    }
}

/// The outcome of a call whose approval cannot be used.
pub(crate) fn approval_refused(state: ApprovalState, approval_id: &ApprovalId) -> Refusal {
    let code = match state {
        ApprovalState::Denied => Code::ApprovalDenied,
        ApprovalState::Expired => Code::ApprovalExpired,
        ApprovalState::Withdrawn => Code::ApprovalWithdrawn,
        ApprovalState::Consumed => Code::ApprovalUsed,
        // Not granted, or granted to somebody who is not asking: either way, not what would run.
        ApprovalState::Pending | ApprovalState::Granted => Code::ApprovalStale,
    };
    Refusal::new(code, format!("approval `{approval_id}` is {}", state.word()))
}

pub(crate) fn storage_unavailable(error: &JournalError) -> Exit {
    Refusal::new(Code::StorageUnavailable, error.to_string()).into()
}

/// The journal's numbers, as of one call.
struct Journaled<'v, 'g>(&'v Validated<'g>);

impl CountReader for Journaled<'_, '_> {
    fn admitted<'a>(&'a self, counts: &'a [Count]) -> BoxFuture<'a, Result<Vec<u64>, JournalError>> {
        let subject = self.0.scope().subject.source();
        Box::pin(async move { self.0.scope().log.admitted(&self.0.call().call_id, &subject, counts).await })
    }
}

impl<'g> Authorized<'g> {
    /// The policy is asked once more, about the numbers of today. The hooks let this call pass, and no number is shown to them:
    /// starting them between each count and its claim would only give others the time to be admitted in between.
    pub(crate) async fn decided_again(self, trail: &mut Trail<'g>) -> Result<Self, Exit> {
        self.validated.decided(self.permission, Hooks::LetPass, trail).await
    }

    pub(crate) fn idempotency_key(&self) -> &IdempotencyKey {
        &self.key
    }

    pub(crate) fn seen(&self) -> &[Seen] {
        &self.seen
    }

    pub(crate) fn approval(&self) -> Option<&Grant> {
        self.approval.as_ref()
    }

    pub(crate) fn policies(&self) -> &[String] {
        &self.policies
    }

    pub(crate) fn validated_mut(&mut self) -> &mut Validated<'g> {
        &mut self.validated
    }
}

impl<'g> Deref for Authorized<'g> {
    type Target = Validated<'g>;

    fn deref(&self) -> &Validated<'g> {
        &self.validated
    }
}
