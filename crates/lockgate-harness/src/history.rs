//! The history that a model sees: a pure function of the run's state, the same bytes each time.

use lockgate_contract::ports::{Message, MessageCall};

use crate::state::{RunState, Turn};

impl RunState {
    /// The messages so far, oldest first. Every call of a settled turn is followed by exactly one result, in request order.
    pub fn messages(&self) -> Vec<Message> {
        let start = self.start();
        let system = start.system.iter().map(|text| Message::System { text: text.clone() });
        let task = start.task.iter().map(|text| Message::User { text: text.clone() });
        system.chain(task).chain(self.turns().iter().flat_map(turn_messages)).collect()
    }
}

fn turn_messages(turn: &Turn) -> Vec<Message> {
    let calls = turn.calls.iter().map(|call| MessageCall {
        call_id: call.call_id.clone(),
        provider_call_id: call.provider_call_id.clone(),
        name: call.tool_name.clone(),
        arguments_text: call.arguments_text.clone(),
    });
    let assistant = Message::Assistant { text: turn.text.clone(), calls: calls.collect() };
    let results = turn.calls.iter().filter_map(|call| {
        let content = call.settled.as_ref()?.model_content();
        Some(Message::Tool { call_id: call.call_id.clone(), content })
    });
    std::iter::once(assistant).chain(results).collect()
}
