//! The history that a model sees: a pure function of the run's state, the same bytes each time.

use lockgate_contract::ports::{Message, MessageCall};

use crate::state::RunState;
use crate::turn::{Call, Turn};

/// The most calls that one assistant message holds. Providers refuse a whole request for one more; a longer turn goes on
/// in a further message, so that each of its calls still has its result.
const MOST_CALLS: usize = 128;

impl RunState {
    /// The messages so far, oldest first. Every call of a settled turn is followed by exactly one result, in request order.
    pub fn messages(&self) -> Vec<Message> {
        let start = self.start();
        let system = start.system.iter().map(|text| Message::System { text: text.clone() });
        let task = start.task.iter().map(|text| Message::User { text: text.clone() });
        system.chain(task).chain(self.turns().iter().flat_map(turn_messages)).collect()
    }
}

/// How many messages a turn of so many calls is, with the results.
pub(crate) fn messages_of_turn(calls: usize) -> u64 {
    (calls.div_ceil(MOST_CALLS).max(1) + calls) as u64
}

fn turn_messages(turn: &Turn) -> Vec<Message> {
    let mut parts = turn.calls.chunks(MOST_CALLS);
    let mut messages = part_messages(turn.text.clone(), parts.next().unwrap_or_default());
    messages.extend(parts.flat_map(|calls| part_messages(None, calls)));
    messages
}

/// An assistant message, and the results of its calls.
fn part_messages(text: Option<String>, calls: &[Call]) -> Vec<Message> {
    let proposed = calls.iter().map(|call| MessageCall {
        call_id: call.call_id.clone(),
        provider_call_id: call.provider_call_id.clone(),
        name: call.tool_name.clone(),
        arguments_text: call.arguments_text.clone(),
        language: call.language,
    });
    let assistant = Message::Assistant { text, calls: proposed.collect() };
    let results = calls.iter().filter_map(|call| {
        let content = call.told()?.model_content();
        Some(Message::Tool { call_id: call.call_id.clone(), content })
    });
    std::iter::once(assistant).chain(results).collect()
}
