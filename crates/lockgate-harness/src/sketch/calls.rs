//! What becomes of the calls of a sketch.

use std::sync::Arc;
use std::time::Duration;

use lockgate_contract::approval::Circumstances;
use lockgate_contract::arguments::Arguments;
use lockgate_contract::call::ActionLanguage;
use lockgate_contract::digest::Digest;
use lockgate_contract::document::{Document, Limits};
use lockgate_contract::effect::{Effect, EffectState};
use lockgate_contract::event::{ApprovalDecided, ApprovalRequested, Audit, Body, Settled, ToolRequested, ToolStarted};
use lockgate_contract::ids::ApprovalId;
use lockgate_contract::outcome::{Code, Outcome, Status, ToolCode};
use lockgate_contract::result::Meta;
use lockgate_contract::run::Limit;

use super::{OPEN_FOR, Sketch};

impl Sketch {
    pub(crate) fn requested(&mut self, call: u32) -> &mut Self {
        let body = ToolRequested {
            tool_name: self.name(call),
            parent_call_id: None,
            arguments_text: None,
            language: ActionLanguage::Call,
        };
        self.push(Some(call), &Body::ToolRequested(body))
    }

    /// The digest of what the model asked for.
    fn arguments_digest(&self, call: u32) -> Digest {
        let state = self.state();
        let turn = state.turns().last().unwrap();
        let text = turn.calls[call as usize].arguments_text.clone();
        // Of broken arguments nothing is ever started; some sketches do it all the same.
        Arguments::parse(&text, Limits::ARGUMENTS).map_or(Digest::of_text("test", &text), |read| read.digest())
    }

    pub(crate) fn started(&mut self, call: u32) -> &mut Self {
        self.attempted(call, 1)
    }

    pub(crate) fn attempted(&mut self, call: u32, attempt: u32) -> &mut Self {
        let name = self.name(call);
        let body = ToolStarted {
            effect: effect(&name),
            definition: Digest::of_text("test", &name),
            arguments_digest: self.arguments_digest(call),
            tool_name: name,
            tool_version: "1.0".to_owned(),
            attempt,
            policies: Vec::new(),
            idempotency_key: None,
        };
        self.push(Some(call), &Body::ToolStarted(body))
    }

    /// A person is asked about a call.
    pub(crate) fn asked(&mut self, call: u32) -> &mut Self {
        let name = self.name(call);
        let body = ApprovalRequested {
            approval_id: approval(call),
            effect: effect(&name),
            tool_name: name,
            tool_version: "1.0".to_owned(),
            digest: Digest::of_text("test", "bound"),
            expires_at: self.now.after(Duration::from_millis(OPEN_FOR.unsigned_abs())),
            reason: "because".to_owned(),
            policies: Vec::new(),
            because: None,
            approvers: None,
            circumstances: Circumstances::default(),
        };
        self.push(Some(call), &Body::ApprovalRequested(body))
    }

    /// A person decides: `granted`, `denied`, `withdrawn`, or `refused` when the decision was not taken.
    pub(crate) fn decided(&mut self, call: u32, decision: &str) -> &mut Self {
        let body = ApprovalDecided {
            approval_id: approval(call),
            decision: decision.to_owned(),
            decided_by: "alice".to_owned(),
            reason: None,
            roles: Vec::new(),
            proof: None,
        };
        self.push(Some(call), &Body::ApprovalDecided(body))
    }

    /// The call settles with this data.
    pub(crate) fn returns(&mut self, call: u32, data: &str) -> &mut Self {
        let data = Document::parse(data, Limits::OUTPUT).unwrap();
        self.settles(call, |settled| {
            settled.data = Some(data);
        })
    }

    pub(crate) fn ok(&mut self, call: u32) -> &mut Self {
        self.returns(call, r#"{"n":1}"#)
    }

    /// The call settles with this row of the table; its handler was entered where the row says that it ran.
    pub(crate) fn fails(&mut self, call: u32, code: Code) -> &mut Self {
        self.fails_because(call, code, None)
    }

    pub(crate) fn fails_because(&mut self, call: u32, code: Code, reason: Option<&str>) -> &mut Self {
        let row = code.row();
        let state = row.effect.state(effect(&self.name(call)), row.status != Status::NotExecuted);
        self.settles(call, |settled| {
            settled.ok = false;
            settled.code = Some(code.into());
            settled.reason = reason.map(str::to_owned);
            settled.status = row.status;
            settled.effect_state = state;
            settled.message = Some(row.model_text.to_owned());
        })
    }

    /// The call is refused because of a limit.
    pub(crate) fn refused_by(&mut self, call: u32, limit: Limit) -> &mut Self {
        self.fails_because(call, Code::LimitReached, Some(limit.word()))
    }

    /// The tool itself reports a failure.
    pub(crate) fn reports(&mut self, call: u32, code: &'static str) -> &mut Self {
        self.settles(call, |settled| {
            settled.ok = false;
            settled.code = Some(Outcome::Tool(ToolCode::new(code).unwrap()));
            settled.effect_state = EffectState::None;
            settled.message = Some("no".to_owned());
        })
    }

    /// The call settles: as a success without data, changed by `change`.
    pub(crate) fn settles(&mut self, call: u32, change: impl FnOnce(&mut Settled)) -> &mut Self {
        let turn = self.state().turns().last().cloned().unwrap();
        let arguments = turn.calls[call as usize].arguments_text.clone();
        let mut settled = Settled {
            tool_name: self.name(call),
            tool_version: Some("1.0".to_owned()),
            ok: true,
            code: None,
            reason: None,
            status: Status::Executed,
            effect_state: EffectState::Done,
            data: None,
            message: None,
            details: None,
            retryable: false,
            meta: Meta::default(),
            env_reported_completion: false,
            audit: Audit { arguments_digest: Some(Digest::of_text("test", &arguments)), ..Audit::default() },
        };
        change(&mut settled);
        self.push(Some(call), &Body::Settled(Arc::new(settled)))
    }
}

pub(crate) fn effect(name: &str) -> Effect {
    match name {
        "look" | "peek" | "stat" => Effect::Read,
        "pay" => Effect::External,
        _ => Effect::Write,
    }
}

pub(crate) fn approval(call: u32) -> ApprovalId {
    ApprovalId::new(format!("apr-{call}"))
}
