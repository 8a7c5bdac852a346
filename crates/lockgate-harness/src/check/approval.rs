//! A question to a person, its answer and its use (R-167…R-174).

use lockgate_contract::approval::{Binding, Circumstances, holds_placeholder, same};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::digest::Digest;
use lockgate_contract::document::Limits;
use lockgate_contract::effect::Effect;
use lockgate_contract::event::{
    ApprovalAgreed, ApprovalConsumed, ApprovalDecided, ApprovalEdited, ApprovalRequested, Event, EventType,
};
use lockgate_contract::ids::ApprovalId;

use crate::check::Invariant;
use crate::check::ledger::{Answer, CallArguments, Ledger, Question, Use};

impl Ledger {
    pub(super) fn approval_requested(&mut self, event: &Event, asked: ApprovalRequested) {
        let Some(place) = self.requested_call_of(event) else { return };
        self.check_name(place, event, &asked.tool_name);
        self.check_unsettled(place, event);
        if let Some(before) = self.questions.get(&asked.approval_id).map(|question| question.seq) {
            let text = format!("approval `{}` was asked for before, in event {before}", asked.approval_id);
            self.report_call(Invariant::ApprovalOrder, place, [before, event.seq], text);
            return;
        }
        // An earlier driver may have started it under another policy; a further attempt is asked about anew.
        let last = self.calls[place].starts.last();
        if let Some(start) = last.filter(|start| start.drive == self.drive && !start.over) {
            let started = start.seq;
            let text = format!("a person is asked about a call that started with event {started}");
            self.report_call(Invariant::ApprovalOrder, place, [started, event.seq], text);
        }
        if ApprovalId::from_digest(asked.digest) != asked.approval_id {
            let text = format!("approval `{}` is not named after the digest that it binds", asked.approval_id);
            self.report_call(Invariant::ApprovalBinding, place, [event.seq], text);
        } else if self.bound(place, asked.effect, &asked.circumstances).is_some_and(|digest| digest != asked.digest) {
            let seqs = [self.calls[place].named_at, event.seq];
            let text = format!("approval `{}` binds something else than the call", asked.approval_id);
            self.report_call(Invariant::ApprovalBinding, place, seqs, text);
        }
        self.calls[place].questions.push(asked.approval_id.clone());
        let question = Question {
            seq: event.seq,
            place,
            digest: asked.digest,
            effect: asked.effect,
            tool_version: asked.tool_version,
            circumstances: asked.circumstances,
            expires_at: asked.expires_at,
            approvers: asked.approvers,
            yeses: Vec::new(),
            answer: None,
            consumed: None,
        };
        self.questions.insert(asked.approval_id, question);
    }

    /// The digest over everything that an approval of this call names, where the events say all of it.
    fn bound(&self, place: usize, effect: Effect, circumstances: &Circumstances) -> Option<Digest> {
        let (call, start) = (&self.calls[place], self.start.as_ref()?);
        let CallArguments::Exact(arguments) = &call.arguments else { return None };
        if circumstances.files.keys().any(|name| holds_placeholder(name)) {
            return None;
        }
        let binding = Binding {
            arguments: arguments.document(),
            attempt: u32::try_from(call.starts.len()).ok().filter(|started| *started > 0).map(|started| started + 1),
            call_id: &call.id,
            circumstances,
            definition: start.binding.allowed.definition(&call.tool_name)?,
            effect,
            run_id: self.run_id.as_ref()?,
            subject: Binding::subject(&start.subject),
            tool_name: &call.tool_name,
        };
        Some(binding.digest())
    }

    pub(super) fn approval_decided(&mut self, event: &Event, decided: &ApprovalDecided) {
        let Some(place) = self.requested_call_of(event) else { return };
        let id = &decided.approval_id;
        let Some(question) = self.question(place, event, id) else { return };
        let (seq, expires_at, answer, consumed) =
            (question.seq, question.expires_at, question.answer, question.consumed);
        let said = match decided.decision.as_str() {
            "granted" => Answer::Granted,
            "denied" => Answer::Denied,
            "withdrawn" => Answer::Withdrawn,
            // It was not taken: it decides nothing.
            "refused" => return,
            other => {
                let text = format!("`{other}` is no decision about approval `{id}`");
                self.report_call(Invariant::ApprovalOrder, place, [event.seq], text);
                return;
            }
        };
        if said == Answer::Granted {
            self.check_yeses(place, event, decided);
        }
        let refusal = match (answer, consumed) {
            (_, Some(used)) => Some((used, format!("approval `{id}` is decided after it was used"))),
            (Some((Answer::Granted, _)), None) if said == Answer::Withdrawn => None,
            (Some((_, before)), None) => Some((before, format!("approval `{id}` is decided a second time"))),
            (None, None) => None,
        };
        if let Some((before, text)) = refusal {
            self.report_call(Invariant::ApprovalOrder, place, [before, event.seq], text);
        } else if event.at >= expires_at {
            let text = format!("approval `{id}` is decided at {}, and expired at {expires_at}", event.at);
            self.report_call(Invariant::ApprovalOrder, place, [seq, event.seq], text);
        }
        if let Some(question) = self.questions.get_mut(id) {
            question.answer = Some((said, event.seq));
        }
    }

    /// A yes that is one of several.
    pub(super) fn approval_agreed(&mut self, event: &Event, agreed: &ApprovalAgreed) {
        let Some(place) = self.requested_call_of(event) else { return };
        let id = &agreed.approval_id;
        let Some(question) = self.question(place, event, id) else { return };
        let (seq, expires_at, answer) = (question.seq, question.expires_at, question.answer);
        if let Some((_, before)) = answer {
            let text = format!("approval `{id}` gets a yes after it was decided");
            self.report_call(Invariant::ApprovalOrder, place, [before, event.seq], text);
        } else if event.at >= expires_at {
            let text = format!("approval `{id}` gets a yes at {}, and expired at {expires_at}", event.at);
            self.report_call(Invariant::ApprovalOrder, place, [seq, event.seq], text);
        }
        self.take_yes(place, event, id, &agreed.agreed_by, &agreed.roles);
    }

    /// A question is granted by enough different people who may (four eyes).
    fn check_yeses(&mut self, place: usize, event: &Event, decided: &ApprovalDecided) {
        let id = &decided.approval_id;
        self.take_yes(place, event, id, &decided.decided_by, &decided.roles);
        let Some(question) = self.questions.get(id) else { return };
        let Some(required) = &question.approvers else { return };
        let (seq, said, needed) = (question.seq, question.yeses.len(), required.needed());
        if (said as u64) < u64::from(needed) {
            let text = format!("approval `{id}` is granted by {said} people, and takes {needed}");
            self.report_call(Invariant::Authorisation, place, [seq, event.seq], text);
        }
    }

    /// Somebody's yes, where it is one that counts.
    fn take_yes(&mut self, place: usize, event: &Event, id: &ApprovalId, by: &str, roles: &[String]) {
        let Some(question) = self.questions.get(id) else { return };
        let subject = self.start.as_ref().map(|start| &start.subject);
        let Some(required) = &question.approvers else { return };
        let own = subject.is_some_and(|subject| same(by, &subject.user) || same(by, &subject.agent));
        let twice = question.yeses.iter().find(|(before, _)| same(before, by)).map(|(_, seq)| *seq);
        let (seq, wrong) = if own {
            (question.seq, "and it is asked on their own behalf")
        } else if !required.have(roles) {
            (question.seq, "and they have none of its roles")
        } else if let Some(before) = twice {
            (before, "and they said so before")
        } else {
            if let Some(question) = self.questions.get_mut(id) {
                question.yeses.push((by.to_owned(), event.seq));
            }
            return;
        };
        let text = format!("`{by}` says yes to approval `{id}`, {wrong}");
        self.report_call(Invariant::Authorisation, place, [seq, event.seq], text);
    }

    /// Another question stands in place of one, about other arguments: those are what may run, and nothing else.
    pub(super) fn approval_edited(&mut self, event: &Event, edited: &ApprovalEdited) {
        let Some(place) = self.requested_call_of(event) else { return };
        let id = &edited.approval_id;
        let Some(question) = self.question(place, event, id) else { return };
        let (seq, effect, expires_at, answer) = (question.seq, question.effect, question.expires_at, question.answer);
        let (tool_version, approvers) = (question.tool_version.clone(), question.approvers.clone());
        let circumstances = question.circumstances.clone();
        if let Some((_, before)) = answer {
            let text = format!("approval `{id}` is edited after it was decided");
            self.report_call(Invariant::ApprovalOrder, place, [before, event.seq], text);
        } else if event.at >= expires_at {
            let text = format!("approval `{id}` is edited at {}, and expired at {expires_at}", event.at);
            self.report_call(Invariant::ApprovalOrder, place, [seq, event.seq], text);
        }
        if let Some(question) = self.questions.get_mut(id) {
            question.answer = Some((Answer::Edited, event.seq));
        }
        if let Some(before) = self.questions.get(&edited.edited_as).map(|question| question.seq) {
            let text = format!("approval `{}` was asked for before, in event {before}", edited.edited_as);
            self.report_call(Invariant::ApprovalOrder, place, [before, event.seq], text);
            return;
        }
        let arguments = Arguments::parse(&edited.arguments_text, Limits::ARGUMENTS).ok();
        if arguments.as_ref().map(Arguments::digest) != Some(edited.arguments_digest) {
            let text = format!("the arguments of approval `{}` are not those of its digest", edited.edited_as);
            self.report_call(Invariant::ApprovalBinding, place, [event.seq], text);
        }
        self.calls[place].arguments = arguments.map_or(CallArguments::Invalid, CallArguments::Exact);
        if ApprovalId::from_digest(edited.digest) != edited.edited_as {
            let text = format!("approval `{}` is not named after the digest that it binds", edited.edited_as);
            self.report_call(Invariant::ApprovalBinding, place, [event.seq], text);
        } else if self.bound(place, effect, &circumstances).is_some_and(|digest| digest != edited.digest) {
            let text = format!("approval `{}` binds something else than the edited call", edited.edited_as);
            self.report_call(Invariant::ApprovalBinding, place, [seq, event.seq], text);
        }
        self.calls[place].questions.push(edited.edited_as.clone());
        let question = Question {
            seq: event.seq,
            place,
            digest: edited.digest,
            effect,
            tool_version,
            circumstances,
            expires_at,
            approvers,
            yeses: Vec::new(),
            answer: None,
            consumed: None,
        };
        self.questions.insert(edited.edited_as.clone(), question);
    }

    pub(super) fn approval_consumed(&mut self, event: &Event, consumed: &ApprovalConsumed) {
        self.used = Some(Use { seq: event.seq, call_id: event.call_id.clone() });
        let Some(place) = self.requested_call_of(event) else { return };
        let id = &consumed.approval_id;
        let Some(question) = self.question(place, event, id) else { return };
        let (seq, digest, expires_at, answer, before) =
            (question.seq, question.digest, question.expires_at, question.answer, question.consumed);
        if let Some(before) = before {
            let text = format!("approval `{id}` is used a second time: event {before} used it");
            self.report_call(Invariant::ApprovalSingleUse, place, [before, event.seq], text);
            return;
        }
        match answer {
            Some((Answer::Granted, _)) => {}
            Some((Answer::Denied | Answer::Withdrawn | Answer::Edited, decided)) => {
                let text = format!("approval `{id}` is used, and nobody stands by it any more: see event {decided}");
                self.report_call(Invariant::Authorisation, place, [decided, event.seq], text);
            }
            None => {
                let text = format!("approval `{id}` is used, and nobody granted it");
                self.report_call(Invariant::Authorisation, place, [seq, event.seq], text);
            }
        }
        if consumed.digest != digest {
            let text = format!("approval `{id}` is used for something else than was asked");
            self.report_call(Invariant::ApprovalBinding, place, [seq, event.seq], text);
        }
        if event.at >= expires_at {
            let text = format!("approval `{id}` is used at {}, and expired at {expires_at}", event.at);
            self.report_call(Invariant::ApprovalBinding, place, [seq, event.seq], text);
        }
        if let Some(question) = self.questions.get_mut(id) {
            question.consumed = Some(event.seq);
        }
    }

    /// The question of a call; an answer to another call's question is none.
    fn question(&mut self, place: usize, event: &Event, id: &ApprovalId) -> Option<&Question> {
        match self.questions.get(id).map(|question| (question.place, question.seq)) {
            Some((asked_of, seq)) if asked_of != place => {
                let text = format!("approval `{id}` is about call `{}`", self.calls[asked_of].id);
                self.report_call(Invariant::ApprovalBinding, place, [seq, event.seq], text);
                None
            }
            Some(_) => self.questions.get(id),
            None => {
                if !self.blind {
                    let text = format!("`{}` is about approval `{id}`, which nobody asked for", event.kind);
                    self.report_call(Invariant::ApprovalOrder, place, [event.seq], text);
                }
                None
            }
        }
    }

    /// Using an approval and starting its call are one commit: the start is the very next event. Says whether this event is
    /// that start.
    pub(super) fn check_use(&mut self, event: &Event) -> bool {
        let Some(used) = self.used.take() else { return false };
        let follows = event.kind == EventType::ToolStarted && event.call_id == used.call_id;
        if !follows {
            self.report_unstarted(&used, Some(event));
        }
        follows
    }

    pub(super) fn report_unstarted(&mut self, used: &Use, next: Option<&Event>) {
        let text = match next {
            Some(next) => format!("an approval is used, and `{}` comes in place of its call's start", next.kind),
            None => "an approval is used, and its call's start does not follow".to_owned(),
        };
        let seqs = [used.seq].into_iter().chain(next.map(|next| next.seq));
        self.report(Invariant::ApprovalOrder, seqs, used.call_id.as_ref(), text);
    }
}
