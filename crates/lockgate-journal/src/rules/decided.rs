//! What becomes of a question when somebody decides it.

use std::sync::Arc;

use lockgate_contract::approval::{Approval, ApprovalState, Proof, Yes};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::event::{ApprovalAgreed, ApprovalDecided, ApprovalEdited, Body, NewEvent};
use lockgate_contract::ports::{Decision, DecisionRefused, JournalError};
use lockgate_contract::time::Timestamp;

/// How an event says that a decision was not taken.
pub(crate) const REFUSED: &str = "refused";

/// What came of a decision: the events that record it, and the records or why there are none. All of it is stored.
pub(crate) struct Verdict {
    pub(crate) events: Vec<NewEvent>,
    pub(crate) answer: Result<Decided, DecisionRefused>,
}

/// A decision that is taken.
pub(crate) struct Decided {
    /// The question that was decided about, as it is now.
    pub(crate) question: Approval,
    /// The question that an edit puts in its place.
    pub(crate) in_its_place: Option<Approval>,
}

impl Decided {
    /// The question that stands now.
    pub(crate) fn into_standing(self) -> Approval {
        self.in_its_place.unwrap_or(self.question)
    }
}

/// Takes a decision. A decision that is not taken leaves an event too: the attempt is part of the truth.
///
/// Fails, and leaves no event, when the answer is not one that a person can give.
pub(crate) fn decide(approval: &Approval, decision: &Decision, now: Timestamp) -> Result<Verdict, DecisionRefused> {
    let state = approval.state_at(now);
    let open = match (decision.answer, state) {
        (ApprovalState::Granted | ApprovalState::Denied | ApprovalState::Withdrawn, ApprovalState::Pending)
        | (ApprovalState::Withdrawn, ApprovalState::Granted) => true,
        (ApprovalState::Granted | ApprovalState::Denied | ApprovalState::Withdrawn, _) => false,
        (answer @ (ApprovalState::Pending | ApprovalState::Expired | ApprovalState::Consumed), _) => {
            let what = format!("`{}` is not an answer to a question", answer.word());
            return Err(JournalError::unavailable(what).into());
        }
    };
    let id = || approval.approval_id.clone();
    if decision.edit.is_some() && decision.answer != ApprovalState::Granted {
        let detail = "other arguments come with a yes only".to_owned();
        return Err(DecisionRefused::Edit { approval: id(), detail });
    }
    let verdict = if !open {
        let reason = match state {
            ApprovalState::Expired => "expired".to_owned(),
            state => format!("already_{}", state.word()),
        };
        refused(approval, decision, reason, DecisionRefused::NotOpen { approval: id(), state })
    } else if decision.digest.as_ref().is_some_and(|shown| *shown != approval.digest) {
        refused(approval, decision, "digest".to_owned(), DecisionRefused::Digest(id()))
    } else if let Err(why) = approval.entitles(decision) {
        let refusal = DecisionRefused::NotEntitled { approval: id(), by: decision.by.clone(), why };
        refused(approval, decision, why.word().to_owned(), refusal)
    } else {
        match (decision.answer, changed(approval, decision)) {
            (ApprovalState::Granted, Some(arguments)) => edited(approval, decision, arguments, now),
            (ApprovalState::Granted, None) => agreed(approval.clone(), decision, now),
            _ => said(approval.clone(), decision, now),
        }
    };
    Ok(verdict)
}

/// The arguments that an edit puts in place of others. The same arguments again change nothing.
fn changed<'d>(approval: &Approval, decision: &'d Decision) -> Option<&'d Arguments> {
    decision.edit.as_ref().filter(|arguments| arguments.digest() != approval.arguments_digest)
}

/// One more yes; with the last that it needs the question is granted.
fn agreed(mut question: Approval, decision: &Decision, now: Timestamp) -> Verdict {
    question.yeses.push(Yes {
        by: decision.by.clone(),
        roles: decision.roles.clone(),
        proof: decision.proof,
        at: now,
        reason: decision.reason.clone(),
    });
    let missing = question.missing_yeses();
    if missing == 0 {
        return said(question, decision, now);
    }
    let body = Body::ApprovalAgreed(ApprovalAgreed {
        approval_id: question.approval_id.clone(),
        agreed_by: decision.by.clone(),
        roles: decision.roles.clone(),
        proof: decision.proof,
        reason: decision.reason.clone(),
        missing,
    });
    let events = vec![about(&question, decision, body)];
    Verdict { events, answer: Ok(Decided { question, in_its_place: None }) }
}

/// Another question in place of this one, with the yes of whoever wrote it.
fn edited(before: &Approval, decision: &Decision, arguments: &Arguments, now: Timestamp) -> Verdict {
    let asked = before.with_arguments(arguments, &decision.by, now);
    let body = Body::ApprovalEdited(Box::new(ApprovalEdited {
        approval_id: before.approval_id.clone(),
        edited_as: asked.approval_id.clone(),
        digest: asked.digest,
        arguments_text: asked.arguments.text().to_owned(),
        arguments_digest: asked.arguments_digest,
        edited_by: decision.by.clone(),
        roles: decision.roles.clone(),
        proof: decision.proof,
    }));
    let question = Approval {
        state: ApprovalState::Withdrawn,
        decided_by: Some(decision.by.clone()),
        decided_at: Some(now),
        reason: Some(format!("edited as {}", asked.approval_id)),
        ..before.clone()
    };
    let mut events = vec![about(before, decision, body)];
    let yes = agreed(asked, decision, now);
    events.extend(yes.events);
    let answer = yes.answer.map(|decided| Decided { question, in_its_place: Some(decided.question) });
    Verdict { events, answer }
}

/// The decision stands.
fn said(question: Approval, decision: &Decision, now: Timestamp) -> Verdict {
    let question = Approval {
        state: decision.answer,
        decided_by: Some(decision.by.clone()),
        decided_at: Some(now),
        reason: decision.reason.clone(),
        ..question
    };
    let events = vec![decided_event(&question, decision, decision.answer.word(), decision.reason.clone())];
    Verdict { events, answer: Ok(Decided { question, in_its_place: None }) }
}

fn refused(approval: &Approval, decision: &Decision, reason: String, refusal: DecisionRefused) -> Verdict {
    Verdict { events: vec![decided_event(approval, decision, REFUSED, Some(reason))], answer: Err(refusal) }
}

fn decided_event(approval: &Approval, decision: &Decision, word: &str, reason: Option<String>) -> NewEvent {
    let body = Body::ApprovalDecided(ApprovalDecided {
        approval_id: approval.approval_id.clone(),
        decision: word.to_owned(),
        decided_by: decision.by.clone(),
        reason,
        roles: decision.roles.clone(),
        proof: Some(decision.proof).filter(|proof| *proof != Proof::Claimed),
    });
    about(approval, decision, body)
}

/// What is said about a question, with the signature of whoever signs decisions.
fn about(approval: &Approval, decision: &Decision, body: Body) -> NewEvent {
    let mut event = NewEvent::new(approval.step, Some(approval.call_id.clone()), body);
    if let Some(signer) = &decision.signer {
        event.data = event.data.signed_by(Arc::clone(signer));
    }
    event
}
