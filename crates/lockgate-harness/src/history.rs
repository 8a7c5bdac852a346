//! The history that a model sees: a pure function of the run's state, the same bytes each time.

use lockgate_contract::ports::{Message, MessageCall, ProviderItem};

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
    let mut messages = Vec::new();
    let mut text = turn.text.clone();
    for (index, calls) in parts(&turn.calls).enumerate() {
        let first = index * MOST_CALLS;
        let of_part = |item: &&ProviderItem| part_of(item, turn.calls.len()) == index;
        let items = turn.items.iter().filter(of_part).map(|item| {
            let before = item.before.saturating_sub(u32::try_from(first).unwrap_or(u32::MAX));
            ProviderItem { before, ..item.clone() }
        });
        messages.extend(part_messages(text.take(), calls, items.collect()));
    }
    messages
}

/// The calls of each message of a turn; one part without calls where there are none.
fn parts(calls: &[Call]) -> impl Iterator<Item = &[Call]> {
    let none: Option<&[Call]> = calls.is_empty().then_some(&[]);
    none.into_iter().chain(calls.chunks(MOST_CALLS))
}

/// The part in which an item stands: with the call behind it, and behind the last call with that one.
fn part_of(item: &ProviderItem, calls: usize) -> usize {
    let behind = usize::try_from(item.before).unwrap_or(usize::MAX);
    behind.min(calls.saturating_sub(1)) / MOST_CALLS
}

/// An assistant message, and the results of its calls.
fn part_messages(text: Option<String>, calls: &[Call], items: Vec<ProviderItem>) -> Vec<Message> {
    let proposed = calls.iter().map(|call| MessageCall {
        call_id: call.call_id.clone(),
        provider_call_id: call.provider_call_id.clone(),
        name: call.tool_name.clone(),
        arguments_text: call.arguments_text.clone(),
        language: call.language,
    });
    let assistant = Message::Assistant { text, calls: proposed.collect(), items };
    let results = calls.iter().filter_map(|call| {
        let told = call.told()?;
        Some(Message::Tool { call_id: call.call_id.clone(), ok: told.code.is_none(), content: told.model_content() })
    });
    std::iter::once(assistant).chain(results).collect()
}
