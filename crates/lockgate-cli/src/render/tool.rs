//! Tools: what a subject sees, and both views of a definition.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lockgate::contract::effect::Effect;
use lockgate::registry::{InternalView, ModelView, Standing};
use serde::Serialize;

use crate::render::json::pretty;
use crate::render::style::{BAD, FAINT, GOOD, HEADING, NAME, OPEN, styled};
use crate::render::table::{Cell, Table};
use crate::render::text::{harmless, indented, one_line};

/// What a subject sees.
#[derive(Debug, Serialize)]
pub(crate) struct ToolList {
    /// On whose behalf.
    pub(crate) subject: String,
    /// Why the list is what it is.
    pub(crate) standing: Standing,
    /// The tools, sorted by name.
    pub(crate) tools: Vec<ToolLine>,
    /// Tools that the rules deny to the subject whatever it calls them with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hidden: Vec<String>,
}

/// One tool of the list.
#[derive(Debug, Serialize)]
pub(crate) struct ToolLine {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) effect: Effect,
    pub(crate) read_only: bool,
    pub(crate) summary: String,
    /// What the rules answer to its calls, as far as it is known before any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<String>,
}

/// The list; an empty one is explained elsewhere.
pub(crate) fn table(list: &ToolList) -> String {
    let mut table = Table::new(&["tool", "version", "effect", "summary"]);
    for tool in &list.tools {
        let style = match tool.effect {
            Effect::Read => GOOD,
            Effect::Write => OPEN,
            Effect::External => BAD,
        };
        table.row([
            Cell::styled(NAME, &tool.name),
            Cell::new(&tool.version),
            Cell::styled(style, tool.effect.word()),
            Cell::new(&tool.summary),
        ]);
    }
    table.render()
}

/// What the rules answer, and what they hide: for operators, never for models.
pub(crate) fn by_the_rules(list: &ToolList) -> String {
    let mut table = Table::new(&["tool", "by the rules"]);
    let shown = list.tools.iter().flat_map(|tool| tool.rules.iter().map(|words| (&tool.name, words.as_str())));
    let hidden = list.hidden.iter().map(|name| (name, "denied: hidden"));
    for (name, words) in shown.chain(hidden) {
        table.row([Cell::styled(NAME, name), Cell::new(words)]);
    }
    if table.is_empty() { String::new() } else { format!("\n{}", table.render()) }
}

/// Why the subject sees no tool.
pub(crate) fn why_empty(standing: Standing) -> Option<&'static str> {
    match standing {
        Standing::Visible => None,
        Standing::NothingVisible => Some(
            "tools are registered, and this subject sees none of them: look at `allow`, `scopes`, `level` and `[policy]`",
        ),
        Standing::NothingRegistered => Some("no tool is registered: add some to `[tools]`"),
    }
}

/// What a model may see of a tool.
pub(crate) fn model_view(view: &ModelView) -> String {
    format!(
        "{} {}\n{}  input schema\n{}",
        styled(HEADING, one_line(&view.name, 60)),
        styled(FAINT, "as a model sees it"),
        indented(&harmless(&view.description), 2),
        indented(&harmless(&pretty(&view.input_schema)), 4),
    )
}

/// What stays inside.
pub(crate) fn internal_view(view: &InternalView) -> String {
    let words = |words: Vec<&str>, none: &str| {
        if words.is_empty() { none.to_owned() } else { words.join(", ") }
    };
    let set = |set: &BTreeSet<String>, none: &str| words(set.iter().map(String::as_str).collect(), none);
    let yes_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let permission = match &view.permission_reason {
        Some(reason) => format!("{} ({reason})", view.permission),
        None => view.permission.to_string(),
    };
    let facts = [
        ("version", view.version.clone()),
        ("effect", view.effect.to_string()),
        ("permission", permission),
        ("scopes", set(&view.scopes, "none")),
        ("tenants", set(&view.audience.tenants, "any")),
        ("agents", set(&view.audience.agents, "any")),
        ("domain", view.audience.domain.clone().unwrap_or_else(|| "none".to_owned())),
        ("replay", view.replay.to_string()),
        ("idempotency", view.idempotency.to_string()),
        ("on duplicate", view.on_duplicate.to_string()),
        ("time-out", view.timeout_ms.map_or_else(|| "the gate's".to_owned(), |millis| format!("{millis} ms"))),
        ("completes run", yes_no(view.completes_run)),
        ("deferral", view.deferral.to_string()),
        ("error text", view.error_text.to_string()),
        ("resource keys", set(&view.resource_keys, "none")),
        ("abilities", words(view.abilities.clone(), "none")),
        ("handler", yes_no(view.has_handler)),
        ("source", view.source.clone()),
        ("definition", view.definition.to_string()),
    ];
    let mut text = format!("{} {}\n", styled(HEADING, one_line(&view.name, 60)), styled(FAINT, "inside"));
    for (name, value) in facts {
        let _ = writeln!(text, "  {}  {}", styled(FAINT, format_args!("{name:<13}")), one_line(&value, 120));
    }
    if let Some(schema) = &view.output_schema {
        text.push_str("  output schema\n");
        text.push_str(&indented(&harmless(&pretty(schema)), 4));
    }
    text
}
