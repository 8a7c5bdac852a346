//! Examples beside the rules, which are tests at load.
//!
//! ```text
//! // expect: ask {"tool": "create_ticket", "input": {"title": "printer"}, "roles": ["support"]}
//! ```
//!
//! A line that begins so, anywhere in a file; the object may go on over the comment lines below. It is about the whole set, not
//! the rules next to it.

use std::collections::{BTreeMap, BTreeSet};

use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::{Document, Limits, Node};
use lockgate_contract::effect::{Effect, Permission};
use lockgate_contract::nearest::nearest;
use lockgate_contract::ports::PolicyDecision;
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use serde::de::DeserializeOwned;

use super::error::Defect;
use super::input::{self, OF_ANOTHER_TYPE, Unfit};
use super::tools::{ToolFacts, Tools};

/// A call, and what the rules are to answer.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) expected: PolicyDecision,
    pub(super) tool: String,
    pub(super) subject: Subject,
    pub(super) arguments: Arguments,
    pub(super) permission: Permission,
    pub(super) step: u32,
    pub(super) run: RunFacts,
    /// By name; those that are not given are zero.
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) now: Timestamp,
}

/// When examples happen that do not say when: noon, on a working day.
pub(super) const NOON: Timestamp = Timestamp::from_millis(1_767_355_200_000);

const KEYS: [&str; 13] = [
    "tool",
    "input",
    "tenant",
    "user",
    "agent",
    "roles",
    "domains",
    "level",
    "permission",
    "step",
    "run",
    "counts",
    "now",
];

const FORM: &str = "write `// expect: ask {\"tool\": \"NAME\", \"input\": {…}}`, with `allow`, `ask` or `deny`";

/// The examples of a file.
pub(super) fn read(file: &str, text: &str, tools: &Tools) -> (Vec<Example>, Vec<Defect>) {
    let (mut examples, mut defects) = (Vec::new(), Vec::new());
    let mut lines = text.lines().map(str::trim).zip(1..).peekable();
    while let Some((comment, line)) = lines.next() {
        let Some(words) = expectation(comment) else {
            if comment.split_once("//").is_some_and(|(_, behind)| expectation(&format!("//{behind}")).is_some()) {
                let text = "an example stands on a line of its own".to_owned();
                defects.push(Defect::new(file, line, text).hint("move it above the rule"));
            }
            continue;
        };
        let mut words = words.to_owned();
        let mut parsed = parse(&words);
        // What is cut off at the end of its line may go on in the next.
        while let Err(cut_off) = parsed {
            let goes_on = |(next, _): &(&str, usize)| next.starts_with("//") && expectation(next).is_none();
            let Some((more, _)) = lines.next_if(goes_on) else {
                parsed = Err(cut_off);
                break;
            };
            words.push('\n');
            words.push_str(more.trim_start_matches('/'));
            parsed = parse(&words).map_err(|_| cut_off);
        }
        let example =
            parsed.and_then(|(expected, object)| Reader { file, line, tools }.example(expected, object.root()));
        match example {
            Ok(example) => examples.push(example),
            Err((text, hint)) => defects.push(Defect::new(file, line, text).hint(hint)),
        }
    }
    (examples, defects)
}

/// What stands behind `// expect:`; nothing for another line. A misspelt one is one too, so that it cannot be passed over.
fn expectation(line: &str) -> Option<&str> {
    let (word, rest) = line.strip_prefix("//")?.trim_start().split_once(':')?;
    nearest(&word.trim_end().to_lowercase(), ["expect"]).map(|_| if word == "expect" { rest } else { "" })
}

/// What is wrong, and what to do about it.
type Wrong = (String, String);

fn parse(words: &str) -> Result<(PolicyDecision, Document), Wrong> {
    let wrong = |text: &str| (text.to_owned(), FORM.to_owned());
    let (word, object) =
        words.trim().split_once(char::is_whitespace).ok_or_else(|| wrong("an example is incomplete"))?;
    let expected = match word {
        "allow" => PolicyDecision::Allow,
        "ask" => PolicyDecision::Ask,
        "deny" => PolicyDecision::Deny,
        _ => return Err(wrong(&format!("`{}` is no answer", word.escape_debug()))),
    };
    let object = Document::parse(object.trim(), Limits::ARGUMENTS)
        .map_err(|error| wrong(&format!("an example is no JSON: {error}")))?;
    Ok((expected, object))
}

struct Reader<'a> {
    file: &'a str,
    line: usize,
    tools: &'a Tools,
}

impl Reader<'_> {
    fn example(&self, expected: PolicyDecision, object: Node<'_>) -> Result<Example, Wrong> {
        for (key, _) in object.members() {
            if !KEYS.contains(&&*key) {
                let hint = nearest(&key, KEYS).map_or_else(
                    || format!("the keys of an example are {}", KEYS.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err((format!("an example has no key `{}`", key.escape_debug()), hint));
            }
        }
        let name = text(object, "tool")?.ok_or_else(|| ("an example names no tool".to_owned(), FORM.to_owned()))?;
        let tool = self.tools.get(&name).ok_or_else(|| {
            let hint = nearest(&name, self.tools.names()).map_or_else(
                || "an example is about a registered tool".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            (format!("no tool is registered as `{}`", name.escape_debug()), hint)
        })?;
        let default = Subject::default();
        Ok(Example {
            file: self.file.to_owned(),
            line: self.line,
            expected,
            subject: Subject {
                tenant: text(object, "tenant")?.unwrap_or(default.tenant),
                user: text(object, "user")?.unwrap_or(default.user),
                agent: text(object, "agent")?.unwrap_or(default.agent),
                scopes: words(object, "roles")?,
                domains: words(object, "domains")?,
                level: decoded::<Effect>(object, "level")?.unwrap_or(default.level),
                versions: default.versions,
            },
            arguments: arguments(object, tool)?,
            permission: decoded::<Permission>(object, "permission")?.unwrap_or(tool.permission),
            step: decoded(object, "step")?.unwrap_or(0),
            run: decoded(object, "run")?.unwrap_or_default(),
            counts: self.counts(object)?,
            now: decoded(object, "now")?.unwrap_or(NOON),
            tool: name,
        })
    }
}

impl Reader<'_> {
    fn counts(&self, object: Node<'_>) -> Result<BTreeMap<String, u64>, Wrong> {
        let counts: BTreeMap<String, u64> = decoded(object, "counts")?.unwrap_or_default();
        let names = || self.tools.counts.keys().map(String::as_str);
        match counts.keys().find(|name| !self.tools.counts.contains_key(*name)) {
            None => Ok(counts),
            Some(unknown) => {
                let hint = nearest(unknown, names()).map_or_else(
                    || "a count is a `[[quota]]` of the run file that has a `name`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                Err((format!("no count has the name `{}`", unknown.escape_debug()), hint))
            }
        }
    }
}

const AS_CALLED: &str = "write the arguments as a call would have them";

/// The arguments. What no call can have would be denied for that alone, and the example would show nothing.
fn arguments(object: Node<'_>, tool: &ToolFacts) -> Result<Arguments, Wrong> {
    let arguments = match object.get("input") {
        None => Arguments::empty(),
        Some(input) => Arguments::from_document(input.to_document())
            .map_err(|_| ("`input` is no object".to_owned(), AS_CALLED.to_owned()))?,
    };
    let input = arguments.root();
    let declared = || tool.shape.fields.iter().map(|field| field.name.as_str());
    let left_out = |key: &str| tool.shape.left_out.iter().any(|left_out| left_out.path == key);
    if let Some((key, _)) = input.members().find(|(key, _)| !declared().any(|name| name == *key) && !left_out(key)) {
        let hint = nearest(&key, declared()).map_or_else(
            || format!("its arguments are {}", declared().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        return Err((format!("`{}` has no argument `{}`", tool.name, key.escape_debug()), hint));
    }
    let fields = &tool.shape.fields;
    if let Some(field) = fields.iter().find(|field| field.required && input.get(&field.name).is_none()) {
        return Err((
            format!("`{}` needs the argument `{}`", tool.name, field.name.escape_debug()),
            AS_CALLED.to_owned(),
        ));
    }
    match input::record(fields, input) {
        Err(Unfit { path, why: OF_ANOTHER_TYPE }) => {
            Err((format!("the argument `{}`: {OF_ANOTHER_TYPE}", path.escape_debug()), AS_CALLED.to_owned()))
        }
        _ => Ok(arguments),
    }
}

fn text(object: Node<'_>, key: &'static str) -> Result<Option<String>, Wrong> {
    decoded(object, key)
}

fn words(object: Node<'_>, key: &'static str) -> Result<BTreeSet<String>, Wrong> {
    Ok(decoded(object, key)?.unwrap_or_default())
}

fn decoded<T: DeserializeOwned>(object: Node<'_>, key: &'static str) -> Result<Option<T>, Wrong> {
    let Some(node) = object.get(key) else {
        return Ok(None);
    };
    node.to_document().decode().map(Some).map_err(|error| (format!("`{key}` of an example: {error}"), FORM.to_owned()))
}

#[cfg(test)]
mod tests;
