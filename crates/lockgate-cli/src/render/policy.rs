//! Why a call was, or would be, allowed, asked about or denied; and what other rules would have answered.

use std::fmt::Write as _;

use lockgate::contract::approval::visible;

use crate::commands::policy::backtest::{Changed, Tested, Unjudged};
use crate::commands::policy::explain::{Besides, Decided, Explained, Recorded, Stopped};
use crate::render::approval::{needs, span};
use crate::render::style::{BAD, FAINT, GOOD, HEADING, NAME, OPEN, styled};
use crate::render::text::{counted, harmless, indented};

/// The explanation, from the answer down to the facts.
pub(crate) fn explained(view: &Explained) -> String {
    let call = view.call_id.as_deref().map(|id| format!(" · {}", visible(id))).unwrap_or_default();
    let version = view.version.as_deref().map(|version| format!(" {}", visible(version))).unwrap_or_default();
    let mut text = format!("{}{version}{call}\n", styled(HEADING, visible(&view.tool)));
    if let Some(recorded) = &view.recorded {
        text.push_str(&heading("recorded", recorded.answer));
        text.push_str(&was(recorded));
    }
    if let Some(stopped) = &view.stopped_by {
        text.push_str(&stopped_by(stopped, view.recorded.is_some()));
    }
    if let Some(now) = &view.now {
        let heading_word = if view.call_id.is_some() { "by the rules of today" } else { "answer" };
        text.push_str(&heading(heading_word, now.answer));
        if view.same_set == Some(false) {
            text.push_str(&indented(&other_set(view.recorded.as_ref(), now), 2));
        }
        text.push_str(&is(now));
        if let Some(shadow) = &now.shadow {
            text.push_str(&heading(IN_THE_SHADOW, shadow.answer));
            text.push_str(&is(shadow));
        }
        if let Some(unknown) = &now.shadow_unknown {
            let _ = write!(text, "\n{IN_THE_SHADOW}: {}\n", styled(OPEN, visible(unknown)));
        }
    }
    text.push_str(&besides(&view.besides));
    if let Some(unknown) = &view.unknown {
        let _ = write!(text, "\n{} {}\n", styled(OPEN, "not decided:"), visible(unknown));
    }
    if view.seen == Some(false) {
        let _ = write!(
            text,
            "\n{}\n",
            styled(OPEN, "the subject does not see this tool: a call of it ends as `unknown_tool`")
        );
    }
    text
}

const IN_THE_SHADOW: &str = "in the shadow, where it decides nothing";

/// A hook's veto. Without a recorded answer, all that is known of the policy's is that it was no denial.
fn stopped_by(stopped: &Stopped, is_recorded: bool) -> String {
    let hook = format!("hook `{}` stopped it", visible(&stopped.hook));
    let what = if is_recorded { hook } else { format!("the policy let it pass; {hook}") };
    let mut facts = vec![("at", stopped.at.to_string())];
    facts.extend(stopped.reason.as_deref().map(|reason| ("reason", visible(reason))));
    let heading = if is_recorded { "and then" } else { "recorded" };
    format!("\n{heading}: {}\n{}", styled(BAD, what), lines(&facts))
}

/// What could still stop a call that nobody made.
fn besides(besides: &Besides) -> String {
    let hook = |name: &String| format!("hook `{}` would be asked, too", visible(name));
    let mut sentences: Vec<String> = besides.hooks.iter().map(hook).collect();
    for quota in &besides.quotas {
        let calls = counted(quota.most.into(), "call");
        sentences.push(format!("quota `{}` lets {calls} start at most: none is counted here", visible(&quota.name)));
    }
    if sentences.is_empty() { String::new() } else { format!("\n{}\n", styled(OPEN, sentences.join("\n"))) }
}

fn heading(what: &str, answer: &str) -> String {
    format!("\n{what}: {}\n", answered(answer))
}

/// An answer as it looks.
pub(crate) fn answered(answer: &str) -> String {
    let style = match answer {
        "allow" => GOOD,
        "ask" => OPEN,
        _ => BAD,
    };
    styled(style, answer)
}

fn lines(facts: &[(&str, String)]) -> String {
    let line = |(name, value): &(&str, String)| format!("  {}  {value}\n", styled(FAINT, format_args!("{name:<10}")));
    facts.iter().map(line).collect()
}

fn was(recorded: &Recorded) -> String {
    let mut facts = vec![("at", recorded.at.to_string())];
    facts.extend(recorded.reason.as_deref().map(|reason| ("reason", visible(reason))));
    facts.extend(recorded.policies.iter().map(|policy| ("policy", visible(policy))));
    facts.extend(recorded.set.as_deref().map(|set| ("set", visible(set))));
    facts.extend(recorded.shadow.iter().map(|policy| ("shadow", visible(policy))));
    lines(&facts)
}

fn other_set(recorded: Option<&Recorded>, now: &Decided) -> String {
    let then = recorded.and_then(|recorded| recorded.set.as_deref());
    let named =
        |set: Option<&str>| set.map_or_else(|| "no rules".to_owned(), |set| format!("the set {}", visible(set)));
    format!(
        "{}\n  then {}\n  now  {}",
        styled(OPEN, "the rules are not those that were recorded"),
        named(then),
        named(now.set.as_deref())
    )
}

fn is(decided: &Decided) -> String {
    let mut facts = vec![("reason", visible(&decided.reason))];
    facts.extend(decided.policies.iter().map(|policy| ("policy", visible(policy))));
    facts.extend(decided.set.as_deref().map(|set| ("set", visible(set))));
    if let Some(asks) = &decided.asks {
        let anybody = || "the yes of one person who may decide".to_owned();
        facts.push(("needs", asks.approvers.as_ref().map_or_else(anybody, needs)));
        facts.push(("open for", span(asks.open_for_seconds)));
    }
    let permission = &decided.permission;
    let why = permission.reason.as_deref().map(|reason| format!(" ({})", visible(reason))).unwrap_or_default();
    let relaxed = if permission.declared == permission.effective {
        String::new()
    } else {
        format!(", relaxed to {}: the tool proves the call harmless", permission.effective)
    };
    facts.push(("declared", format!("{}{why}{relaxed}", permission.declared)));
    if decided.engine == "native" {
        facts.push(("engine", "native: what the tools declare decides".to_owned()));
    }
    let mut text = lines(&facts);
    if decided.numbers_of_today {
        let sentence = "the numbers in `context.run` and `context.counts`, and the uses of rules, are those of today";
        let _ = writeln!(text, "  {}", styled(OPEN, sentence));
    }
    for rule in &decided.rules {
        let place = format!("{}, line {}", visible(&rule.file), rule.line);
        let _ = write!(text, "\n  {} {}\n", styled(NAME, visible(&rule.id)), styled(FAINT, place));
        text.push_str(&indented(&harmless(&rule.text), 4));
    }
    if !decided.near.is_empty() {
        text.push_str("\n  rules that permit calls of this tool, and not this one\n");
        for near in &decided.near {
            let _ = writeln!(text, "    {}  {}", styled(NAME, visible(&near.id)), near.why);
        }
    }
    text.push_str(&on_facts(decided));
    text
}

fn on_facts(decided: &Decided) -> String {
    let Some(facts) = &decided.facts else { return String::new() };
    let within = |names: &[String]| {
        if names.is_empty() { String::new() } else { format!(" in {}", harmless(&names.join(", "))) }
    };
    let mut text = String::from("\n  facts\n");
    let _ = writeln!(text, "    principal  {}{}", harmless(&facts.principal), within(&facts.roles));
    let _ = writeln!(text, "    action     {}{}", harmless(&facts.action), within(&facts.groups));
    let _ = writeln!(text, "    resource   {}", harmless(&facts.resource));
    for fact in &facts.facts {
        let _ = writeln!(text, "    {} = {}", visible(&fact.name), harmless(&fact.value));
    }
    for untyped in &facts.untyped {
        let _ = writeln!(text, "    no rule can look at `{}`: {}", visible(&untyped.path), visible(&untyped.why));
    }
    text
}

/// A call that would get another answer, and by which policies.
pub(crate) fn changed(call: &Changed) -> String {
    let by = |policies: &[String]| {
        if policies.is_empty() { "nothing that permits it".to_owned() } else { visible(&policies.join(", ")) }
    };
    format!(
        "{} -> {}  {}  {}\n  {}\n",
        answered(call.recorded),
        answered(call.now),
        styled(NAME, visible(&call.tool)),
        visible(&call.call_id),
        styled(FAINT, format_args!("by {}; recorded: by {}", by(&call.policies_now), by(&call.policies))),
    )
}

/// A call of which nobody can say, and why.
pub(crate) fn unjudged(call: &Unjudged) -> String {
    format!(
        "{} -> {}  {}  {}\n  {}\n",
        call.recorded.map_or_else(|| styled(FAINT, "?"), answered),
        styled(FAINT, "?"),
        styled(NAME, visible(&call.tool)),
        visible(&call.call_id),
        styled(FAINT, visible(&call.text)),
    )
}

/// What came out of all calls.
pub(crate) fn tested(summary: &Tested) -> String {
    let changed: u64 = summary.changed.values().sum();
    let unjudged: u64 = summary.unjudged.values().sum();
    let mut text = format!(
        "{} of {}: {} the same, {changed} changed, {unjudged} not judged\n",
        counted(summary.calls, "call"),
        counted(summary.runs, "run"),
        summary.same
    );
    for (change, count) in &summary.changed {
        let _ = writeln!(text, "  {count}  {}", change.replace("->", " -> "));
    }
    for (why, count) in &summary.unjudged {
        let _ = writeln!(text, "  {count}  not judged: {why}");
    }
    if !summary.unreadable.is_empty() {
        let _ = writeln!(text, "  {} cannot be read", counted(summary.unreadable.len() as u64, "run"));
    }
    text
}
