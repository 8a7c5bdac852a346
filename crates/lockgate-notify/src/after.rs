//! Hooks behind a call: programs that are told what became of it. They are one more kind of target; what they answer is nothing.

use std::sync::Arc;

use lockgate_contract::effect::EffectState;
use lockgate_contract::event::{Body, Event, EventType};
use lockgate_contract::ids::RunId;
use lockgate_contract::outcome::Status;
use lockgate_contract::result::ToolResult;
use lockgate_contract::time::Timestamp;
use lockgate_executor::ToolNames;
use serde::Serialize;

use crate::program::Program;

/// A program that is told of calls that ran.
#[derive(Debug, Clone)]
pub struct AfterHook {
    pub(crate) name: Arc<str>,
    pub(crate) program: Program,
    tools: ToolNames,
}

/// The most bytes of a result that a hook is told; of a longer one it is told everything but the data.
const LONGEST: usize = 64 * 1024;

/// What it reads. Keys are only ever added.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Told {
    v: u32,
    r#type: &'static str,
    at: Timestamp,
    run_id: RunId,
    step: u32,
    status: Status,
    effect_state: EffectState,
    result: ToolResult,
    /// The data is not here, since it is that long, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_left_out: Option<usize>,
}

impl AfterHook {
    /// Starts the program for each call of these tools whose handler was entered, once its result stands in the journal. The
    /// name is what logs call it.
    pub fn new(name: &str, tools: ToolNames, program: Program) -> Self {
        Self { name: name.into(), program: program.of_a_hook(), tools }
    }

    pub(crate) fn covers(&self, told: &Told) -> bool {
        self.tools.covers(&told.result.tool_name)
    }
}

impl Told {
    pub(crate) fn call_id(&self) -> &str {
        self.result.call_id.as_str()
    }

    /// What an event says of a call that ran. One that was refused, or that has the result of another one, did not.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        if !matches!(event.kind, EventType::ToolFinished | EventType::ToolFailed) {
            return None;
        }
        let call_id = event.call_id.as_ref()?;
        let Ok(Body::Settled(settled)) = event.body() else { return None };
        if settled.status == Status::NotExecuted || settled.meta.deduplicated.is_some() {
            return None;
        }
        let mut result = settled.result(call_id);
        let length = result.data.as_ref().map_or(0, |data| data.text().len());
        let data_left_out = (length > LONGEST).then_some(length);
        if data_left_out.is_some() {
            result.data = None;
        }
        Some(Self {
            v: 1,
            r#type: "call.after",
            at: event.at,
            run_id: event.run_id.clone(),
            step: event.step,
            status: settled.status,
            effect_state: settled.effect_state,
            result,
            data_left_out,
        })
    }
}
