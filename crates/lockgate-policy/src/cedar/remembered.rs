//! Remembered approvals: what a person approved once is a rule from then on, for the same call and for a while.
//!
//! ```text
//!   approval ──┐
//!   tool ──────┼──► text of one rule ──► loaded beside the others ──► asked: that call, others, later, too often ──► written
//!   terms ─────┘
//! ```
//!
//! Equality is all that a rule compares: nothing is a prefix, a pattern or a list. What cannot be compared exactly is not
//! remembered.

mod arguments;
mod error;

use std::fmt::Write as _;
use std::time::Duration;

use lockgate_contract::approval::Approval;
use lockgate_contract::arguments::Arguments;
use lockgate_contract::effect::Effect;
use lockgate_contract::nearest::nearest;
use lockgate_contract::ports::{Counts, PolicyDecision, PolicyRequest, PolicyVerdict};
use lockgate_contract::run::RunFacts;
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_contract::tool::ToolSpec;

pub use self::error::NotRemembered;
use super::rules::Rules;
use super::shape::Shape;
use super::tools::quoted;

/// The longest time for which something is remembered.
pub const LONGEST: Duration = Duration::from_hours(90 * 24);

/// What is to be remembered, and under which terms.
#[derive(Debug, Clone, Copy)]
pub struct ToRemember<'a> {
    /// The approval that was given.
    pub approval: &'a Approval,
    /// The tool as it is registered today.
    pub tool: &'a ToolSpec,
    /// On whose behalf the call was sent.
    pub subject: &'a Subject,
    /// The arguments that may have any value.
    pub any: &'a [String],
    /// What the operator calls the environment that calls act on today.
    pub environment: Option<&'a str>,
    /// Who has it remembered.
    pub by: &'a str,
    /// From when on.
    pub from: Timestamp,
    /// For how long; [`LONGEST`] at most.
    pub lasts: Duration,
    /// For how many calls of the tool by the subject.
    pub uses: u32,
}

/// A rule that was made of an approval. It decides nothing until it stands in a file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The rule's id.
    pub id: String,
    /// Its text, with comments that say where it comes from.
    pub text: String,
}

impl Remembered {
    /// Makes the rule. Whoever has it made has to be somebody who may decide the approval: that is for the caller to see.
    ///
    /// # Errors
    ///
    /// Why this cannot be remembered.
    pub fn of(wanted: &ToRemember<'_>) -> Result<Self, NotRemembered> {
        let arguments = wanted.admitted()?;
        let shape = Shape::of(wanted.tool.input_schema());
        wanted.check_any(&shape)?;
        let compared = arguments::comparisons(&shape, arguments.root(), wanted.any)?;
        let id = format!("remembered:{}", wanted.approval.approval_id);
        let text = wanted.rule(&id, &compared);
        Ok(Self { id, text })
    }
}

impl ToRemember<'_> {
    /// The arguments that were approved, where the record still has them and the terms make sense.
    fn admitted(&self) -> Result<Arguments, NotRemembered> {
        let Self { approval, tool, .. } = self;
        if self.uses == 0 {
            return Err(NotRemembered::NoUse);
        }
        if self.lasts.is_zero() || self.lasts > LONGEST {
            return Err(NotRemembered::Lasts);
        }
        if tool.definition() != approval.definition || tool.name() != approval.tool_name {
            return Err(NotRemembered::OtherTool(approval.tool_name.clone()));
        }
        // What it was given for, what it would be given for today, and what other arguments would use.
        if !approval.circumstances.is_empty() || self.environment.is_some() || tool.binds_files().is_some() {
            return Err(NotRemembered::Circumstances);
        }
        match Arguments::from_document(approval.arguments.clone()) {
            Ok(arguments) if arguments.digest() == approval.arguments_digest => Ok(arguments),
            _ => Err(NotRemembered::Secret),
        }
    }

    /// What may have any value is declared, and is not the whole of what the tool does.
    fn check_any(&self, shape: &Shape) -> Result<(), NotRemembered> {
        if self.any.is_empty() {
            return Ok(());
        }
        let tool = || self.tool.name().to_owned();
        let declared: Vec<&str> = shape.declared().collect();
        if let Some(unknown) = self.any.iter().find(|name| !declared.contains(&name.as_str())) {
            let nearest = nearest(unknown, declared.iter().copied()).map(str::to_owned);
            return Err(NotRemembered::NoSuchArgument { tool: tool(), name: unknown.clone(), nearest });
        }
        // Nothing that a tool declares says that it destroys nothing: what is idempotent may well delete.
        if self.tool.effect() == Effect::External {
            return Err(NotRemembered::Destructive(tool()));
        }
        let bounds_nothing = declared.iter().all(|name| self.any.iter().any(|any| any == name));
        if self.tool.effect().changes_something() && bounds_nothing {
            return Err(NotRemembered::Everything(tool()));
        }
        // Within paths a dot is what stands between two names.
        let schema = self.tool.input_schema().root();
        let dotted = schema.get("properties").is_none_or(|names| names.members().any(|(name, _)| name.contains('.')));
        if dotted {
            return Err(NotRemembered::Argument { path: String::new(), why: "a name in their schema holds a dot" });
        }
        shape.exact_but_for(self.any).map_err(|(path, why)| NotRemembered::Argument { path, why })
    }

    fn until(&self) -> Timestamp {
        self.from.after(self.lasts)
    }

    fn rule(&self, id: &str, compared: &[String]) -> String {
        let Self { approval, tool, any, by, from, uses, .. } = self;
        let until = self.until();
        let mut conditions = vec![
            format!("principal.tenant == {}", literal(&approval.tenant)),
            format!("principal.user == {}", literal(&approval.user)),
            format!("resource.definition == {}", literal(&approval.definition.to_string())),
            format!("context.now < datetime(\"{until}\")"),
        ];
        if any.is_empty() {
            // Also of what rules cannot see: no argument is another one, and none is added.
            conditions.push(format!("context.arguments_digest == {}", literal(&approval.arguments_digest.to_string())));
        }
        conditions.extend_from_slice(compared);
        let mut text = String::new();
        // A `String` takes whatever is written to it.
        let _ = write!(
            text,
            "// Remembered: the call of approval {} in run {} is allowed again.\n\
             // Approved by {} at {}. Remembered by {} at {from}.\n\
             // Until {until}, and for {uses} calls of the tool by this subject. Delete it to be asked again.\n",
            approval.approval_id,
            literal(approval.run_id.as_str()),
            literal(approval.decided_by.as_deref().unwrap_or_default()),
            approval.decided_at.unwrap_or_default(),
            literal(by),
        );
        if !any.is_empty() {
            let names: Vec<_> = any.iter().map(|name| literal(name)).collect();
            let _ = writeln!(text, "// Of any value: {}.", names.join(", "));
        }
        let _ = write!(
            text,
            "@id({})\n@uses(\"{uses}\")\n@since(\"{from}\")\npermit (\n  principal == Agent::{},\n  action == Tool::Action::{},\n  \
             resource == Tool::{}\n)\nwhen {{\n  {}\n}};\n",
            literal(id),
            literal(&approval.agent),
            literal(tool.name()),
            literal(&format!("{}@{}", tool.name(), tool.version())),
            conditions.join(" &&\n  "),
        );
        text
    }
}

impl Rules {
    /// What these rules say today about the call that was approved, as if none had been admitted of those that they count.
    pub fn of_approved(&self, wanted: &ToRemember<'_>) -> Result<PolicyVerdict, NotRemembered> {
        Ok(self.about(wanted, &wanted.admitted()?, wanted.from, 0))
    }

    /// Whether a remembered rule does what it is meant to in this set, of which it is one: it allows the call, and has no part
    /// in allowing another one, or this one later or too often.
    ///
    /// # Errors
    ///
    /// What it does instead.
    pub fn remembers(&self, remembered: &Remembered, wanted: &ToRemember<'_>) -> Result<(), NotRemembered> {
        let arguments = wanted.admitted()?;
        let same = self.about(wanted, &arguments, wanted.from, 0);
        if same.decision != PolicyDecision::Allow {
            return Err(NotRemembered::StillRefused { answer: same.decision.word(), reason: same.reason });
        }
        let policy = format!("cedar:{}", remembered.id);
        let too_wide = |verdict: PolicyVerdict| verdict.policies.contains(&policy);
        let shape = Shape::of(wanted.tool.input_schema());
        let others = arguments::others(&shape, arguments.root(), wanted.any);
        let mut wider = others.iter().any(|other| too_wide(self.about(wanted, other, wanted.from, 0)));
        wider |= too_wide(self.about(wanted, &arguments, wanted.until(), 0));
        wider |= too_wide(self.about(wanted, &arguments, wanted.from, u64::from(wanted.uses)));
        if wider { Err(NotRemembered::TooWide) } else { Ok(()) }
    }

    fn about(&self, wanted: &ToRemember<'_>, arguments: &Arguments, now: Timestamp, admitted: u64) -> PolicyVerdict {
        let counts = self.counts(wanted.tool, wanted.subject);
        let counts = Counts::of(counts.into_iter().map(|count| (count, admitted)));
        let request = PolicyRequest {
            subject: wanted.subject,
            tool: wanted.tool,
            arguments,
            arguments_digest: arguments.digest(),
            permission: wanted.tool.permission(),
            step: wanted.approval.step,
            run: RunFacts::default(),
            counts: &counts,
        };
        self.decide(&request, now, false)
    }
}

/// A text as a literal of a rule, in which no reader of lines finds a comment.
fn literal(text: &str) -> String {
    quoted(text).replace("//", "/\\u{2f}")
}

#[cfg(test)]
mod tests;
