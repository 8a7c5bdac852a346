//! What the provider wants back unchanged, over a whole history.

use std::borrow::Cow;
use std::collections::HashSet;

use lockgate_contract::document::Node;
use lockgate_contract::ports::{Message, ProviderItem};

use super::NAME;

/// What was kept of each turn, without what would fail the request: the provider's own tools are called and answered in pairs, and an
/// item in which a secret stood is gone.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    messages: &'a [Message],
    uses: HashSet<Cow<'a, str>>,
    results: HashSet<Cow<'a, str>>,
    /// Those of the provider's tools that called a tool of the run: they go on over several turns.
    callers: HashSet<Cow<'a, str>>,
    /// The last turn, whose calls of the provider's tools may be without an answer yet.
    last: Option<usize>,
}

/// What was kept of one turn.
#[derive(Debug, Default)]
pub(super) struct Items<'a>(Vec<(usize, Item<'a>)>);

/// One kept block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a>(Node<'a>);

impl<'a> Kept<'a> {
    pub(super) fn of(messages: &'a [Message]) -> Self {
        let all = || messages.iter().flat_map(own_items).map(|(_, item)| item);
        Self {
            messages,
            uses: all().filter_map(Item::used).collect(),
            results: all().filter_map(Item::answered).collect(),
            callers: all().filter_map(|item| Item(item.caller()?).member("tool_id")).collect(),
            last: messages.iter().rposition(|message| matches!(message, Message::Assistant { .. })),
        }
    }

    /// What stands in the turn at this place of the history.
    pub(super) fn items(&self, at: usize) -> Items<'a> {
        let is_last = self.last == Some(at);
        let is_paired = |item: Item<'a>| match (item.answered(), item.used()) {
            (Some(id), _) => self.uses.contains(&id),
            (None, Some(id)) => is_last || self.results.contains(&id) || self.callers.contains(&id),
            (None, None) => true,
        };
        let items = self.messages.get(at).into_iter().flat_map(own_items);
        Items(items.filter(|(_, item)| is_paired(*item)).collect())
    }
}

/// The items of a message that this adapter made, with how many calls stand before each.
fn own_items(message: &Message) -> impl Iterator<Item = (usize, Item<'_>)> {
    let items: &[ProviderItem] = match message {
        Message::Assistant { items, .. } => items,
        _ => &[],
    };
    let own = items.iter().filter(|item| item.adapter == NAME);
    own.map(|item| (usize::try_from(item.before).unwrap_or(usize::MAX), Item(item.item.root())))
}

impl<'a> Items<'a> {
    /// Whether their texts together are this one: then each stands at its place.
    pub(super) fn say(&self, text: &str) -> bool {
        let texts = self.0.iter().filter(|(_, item)| item.is("text")).filter_map(|(_, item)| item.member("text"));
        let mut rest = Some(text);
        let mut count = 0;
        for said in texts {
            rest = rest.and_then(|rest| rest.strip_prefix(said.as_ref()));
            count += 1;
        }
        count > 0 && rest == Some("")
    }

    /// Whether there is nothing but thoughts, or nothing at all.
    pub(super) fn are_thoughts(&self) -> bool {
        self.0.iter().all(|(_, item)| item.is_thought())
    }

    /// The blocks, with their texts or without.
    pub(super) fn blocks(self, with_texts: bool) -> impl Iterator<Item = (usize, Item<'a>)> {
        self.0.into_iter().filter(move |(_, item)| with_texts || !item.is("text"))
    }
}

impl<'a> Item<'a> {
    /// The block as it came.
    pub(super) fn node(self) -> Node<'a> {
        self.0
    }

    pub(super) fn is_thought(self) -> bool {
        self.is("thinking") || self.is("redacted_thinking")
    }

    /// Who made the next call, where that was one of the provider's own tools.
    pub(super) fn caller(self) -> Option<Node<'a>> {
        self.is("tool_use").then(|| self.0.get("caller")).flatten()
    }

    /// The call of a tool of the provider's that this is.
    fn used(self) -> Option<Cow<'a, str>> {
        self.member("type").filter(|kind| kind.ends_with("_tool_use")).and_then(|_| self.member("id"))
    }

    /// The call of a tool of the provider's that this answers.
    fn answered(self) -> Option<Cow<'a, str>> {
        self.member("type").filter(|kind| kind.ends_with("_tool_result")).and_then(|_| self.member("tool_use_id"))
    }

    fn is(self, kind: &str) -> bool {
        self.member("type").is_some_and(|is| is == kind)
    }

    fn member(self, key: &str) -> Option<Cow<'a, str>> {
        self.0.get(key)?.as_str()
    }
}
