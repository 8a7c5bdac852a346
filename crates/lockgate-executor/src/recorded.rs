//! recorded: the intent stands in the journal before an effect starts.

use std::ops::Deref;

use lockgate_contract::effect::{Effect, EffectState, OnDuplicate, ReplayPolicy};
use lockgate_contract::event::{ApprovalConsumed, Body, ToolStarted};
use lockgate_contract::ids::CallId;
use lockgate_contract::outcome::{Code, Status};
use lockgate_contract::ports::{CallerKey, Claim, ClaimRefused, Quota};

use crate::authorized::{Authorized, approval_refused, storage_unavailable};
use crate::exit::{Exit, Refusal};
use crate::trail::{Stage, Trail};

/// How often a call is decided about whose numbers change under it. Each time another call was admitted, or has become too old
/// to count.
const DECIDED_AGAIN: u32 = 64;

/// A call whose handler may be entered, once.
pub(crate) struct Recorded<'g> {
    authorized: Authorized<'g>,
}

impl<'g> Authorized<'g> {
    /// Writes the intent, and uses the approval up in the same commit.
    ///
    /// What changes something, was approved, or is never to be repeated, is durable before its handler starts. The intent
    /// of any other read may ride with the next commit: if it is lost, the read is simply done again.
    pub(crate) async fn record(mut self, trail: &mut Trail<'g>) -> Result<Recorded<'g>, Exit> {
        if !self.terms().may_start {
            return Err(Exit::Held);
        }
        self.check_duplicates()?;
        self.note_start(trail);
        let spec = self.tool().spec();
        let may_ride = spec.effect() == Effect::Read
            && spec.replay() == ReplayPolicy::Safe
            && self.approval().is_none()
            && self.terms().caller_key.is_none()
            && self.seen().is_empty()
            && self.quotas().next().is_none();
        if !may_ride {
            self = self.claimed(trail).await?;
            trail.pending.clear();
            trail.started = true;
        }
        trail.passed(Stage::Recorded);
        Ok(Recorded { authorized: self })
    }

    /// Takes the right to start, under what stands in the journal at that moment. What the decision looked at and is another
    /// number by then is decided about again, and so often at most.
    async fn claimed(mut self, trail: &mut Trail<'g>) -> Result<Self, Exit> {
        let mut passed_on_by = None;
        let mut decided = 1_u32;
        while let Err(refused) = self.scope().log.claim(self.claim(passed_on_by.clone()), trail.pending.clone()).await {
            // The request still has to be written, unless it stands; a start does not happen any more.
            trail.pending.retain(|event| !event.kind.is_start());
            trail.forget_what_stands().await;
            match refused {
                ClaimRefused::KeyTaken(holder) => passed_on_by = Some(self.unused_by(*holder).await?),
                ClaimRefused::Changed(_) if decided < DECIDED_AGAIN => {
                    decided += 1;
                    // Boxed: it is rare, and every call would carry the room for it.
                    self = Box::pin(self.decided_again(trail)).await?;
                }
                refused => return Err(self.refused_claim(refused)),
            }
            self.note_start(trail);
        }
        Ok(self)
    }

    /// What a start is in the journal: the use of its approval, and its intent.
    fn note_start(&self, trail: &mut Trail<'g>) {
        if let Some(grant) = self.approval() {
            trail.note(Body::ApprovalConsumed(ApprovalConsumed {
                approval_id: grant.approval_id.clone(),
                digest: grant.digest,
            }));
        }
        trail.note(Body::ToolStarted(self.intent()));
    }

    /// The tool's rule for identical calls of one turn.
    fn check_duplicates(&self) -> Result<(), Exit> {
        let spec = self.tool().spec();
        if spec.on_duplicate() == OnDuplicate::RunEach || !spec.effect().changes_something() {
            return Ok(());
        }
        let twin = self.terms().earlier.iter().find(|earlier| {
            earlier.tool_name == spec.name()
                && earlier.arguments_digest == self.arguments_digest()
                && earlier.settled.status == Status::Executed
        });
        match twin {
            None => Ok(()),
            Some(twin) if spec.on_duplicate() == OnDuplicate::ShareResult => Err(Exit::Reused {
                earlier: twin.call_id.clone(),
                why: "its tool's `on_duplicate` is `share_result`, and the calls are identical",
                settled: Box::new(twin.settled.clone()),
            }),
            Some(twin) => Err(Refusal::new(
                Code::DuplicateCall,
                format!("identical to `{}`, and `on_duplicate` is `reject`", twin.call_id),
            )
            .into()),
        }
    }

    fn intent(&self) -> ToolStarted {
        let spec = self.tool().spec();
        ToolStarted {
            tool_name: spec.name().to_owned(),
            tool_version: spec.version().to_owned(),
            effect: spec.effect(),
            attempt: self.terms().attempt,
            definition: spec.definition(),
            arguments_digest: self.arguments_digest(),
            policies: self.policies().to_vec(),
            idempotency_key: spec.effect().changes_something().then(|| self.idempotency_key().to_string()),
        }
    }

    fn claim(&self, passed_on_by: Option<CallId>) -> Claim {
        let spec = self.tool().spec();
        Claim {
            call_id: self.call().call_id.clone(),
            step: self.call().step,
            attempt: self.terms().attempt,
            tool_name: spec.name().to_owned(),
            effect: spec.effect(),
            arguments_digest: self.arguments_digest(),
            idempotency_key: self.idempotency_key().to_string(),
            approval: self.approval().map(|grant| (grant.approval_id.clone(), grant.digest)),
            caller_key: self.terms().caller_key.as_ref().map(|key| CallerKey {
                tenant: self.scope().subject.tenant.clone(),
                key: key.clone(),
                request: self.request_digest(),
                keep: self.gate().options.keep_keys,
                passed_on_by,
            }),
            subject: self.scope().subject.source(),
            quotas: self.quotas().filter(|quota| quota.most.is_some()).cloned().collect(),
            seen: self.seen().to_vec(),
        }
    }

    /// What counts this call.
    fn quotas(&self) -> impl Iterator<Item = &Quota> {
        let spec = self.tool().spec();
        self.gate().options.quotas.iter().filter(|quota| quota.count.covers(spec.name(), spec.effect()))
    }

    fn refused_claim(&self, refused: ClaimRefused) -> Exit {
        match (refused, self.approval()) {
            (ClaimRefused::Approval(state), Some(grant)) => approval_refused(state, &grant.approval_id).into(),
            (ClaimRefused::Journal(error), _) => storage_unavailable(&error),
            (refused @ (ClaimRefused::Quota(_) | ClaimRefused::Changed(_)), _) => {
                Refusal::new(Code::LimitReached, refused.to_string()).reason("quota").into()
            }
            // Somebody else has the right to this attempt, and may be using it now.
            (refused @ ClaimRefused::AlreadyClaimed, _) => {
                Refusal::new(Code::OutcomeUnknown, refused.to_string()).effect_state(EffectState::Unknown).into()
            }
            (refused, _) => Refusal::new(Code::ApprovalStale, refused.to_string()).into(),
        }
    }
}

impl<'g> Recorded<'g> {
    pub(crate) fn authorized_mut(&mut self) -> &mut Authorized<'g> {
        &mut self.authorized
    }
}

impl<'g> Deref for Recorded<'g> {
    type Target = Authorized<'g>;

    fn deref(&self) -> &Authorized<'g> {
        &self.authorized
    }
}
