//! The rules that can matter to a call, found before it comes.
//!
//! ```text
//!   all rules ── action, resource: at load ──► one slice a tool ── principal: at its first call ──► prepared for a subject
//!                                                                                                     │
//!                        reads nothing that differs between its calls: one answer a permission ◄──────┘
//! ```
//!
//! A rule is left out only where its scope cannot match, and a rule whose scope does not match neither decides nor errs: the
//! answers are those of the whole set.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lockgate_contract::effect::Permission;
use lockgate_contract::ports::{Count, PolicyVerdict};
use lockgate_contract::subject::Subject;

use super::adapter::{Principal, Set, World};
use super::cap::Cap;
use super::outlook::Outlook;
use super::reads::{Names, Reads};
use super::rule::Rule;
use super::tools::{ToolFacts, Tools};

/// How many subjects a tool's slice stays prepared for.
const SUBJECTS: usize = 32;

/// The rules that concern one tool.
#[derive(Debug)]
pub(super) struct Slice {
    /// Their places in the set.
    pub(super) rules: Vec<usize>,
    is_whole: bool,
    /// The latest subject first.
    prepared: Mutex<VecDeque<Arc<Prepared>>>,
}

/// A slice for the calls of one subject.
#[derive(Debug)]
pub(super) struct Prepared {
    subject: Subject,
    /// The places of its rules in the set.
    pub(super) rules: Vec<usize>,
    pub(super) set: Set,
    pub(super) world: World,
    pub(super) reads: Reads,
    /// The numbers that its rules look at.
    pub(super) counts: Vec<Count>,
    /// The rules that apply so often only.
    pub(super) caps: Vec<(String, Cap)>,
    /// By permission, where nothing else can change the answer.
    fixed: Option<[OnceLock<PolicyVerdict>; Permission::ALL.len()]>,
    outlook: OnceLock<Outlook>,
}

impl Slice {
    /// The rules of a set for which this says so.
    pub(super) fn of(concerns: impl Iterator<Item = bool>) -> Self {
        let rules = concerns.enumerate().filter(|(_, concerns)| *concerns).map(|(index, _)| index).collect();
        Self { rules, is_whole: false, prepared: Mutex::default() }
    }

    /// All of a set's rules, whomever and whatever they are about.
    pub(super) fn whole(count: usize) -> Self {
        Self { rules: (0..count).collect(), is_whole: true, prepared: Mutex::default() }
    }

    /// The slice for the calls of this subject.
    pub(super) fn prepared(
        &self,
        rules: &[Rule],
        tools: &Tools,
        tool: &ToolFacts,
        subject: &Subject,
    ) -> Result<Arc<Prepared>, String> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = prepared.iter().position(|known| known.subject == *subject) {
            if place > 0
                && let Some(known) = prepared.remove(place)
            {
                prepared.push_front(known);
            }
            if let Some(known) = prepared.front() {
                return Ok(Arc::clone(known));
            }
        }
        let new = Arc::new(self.prepare(rules, tools, tool, subject)?);
        prepared.truncate(SUBJECTS - 1);
        prepared.push_front(Arc::clone(&new));
        Ok(new)
    }

    fn prepare(&self, rules: &[Rule], tools: &Tools, tool: &ToolFacts, subject: &Subject) -> Result<Prepared, String> {
        let principal = Principal::of(subject)?;
        let of_slice = || self.rules.iter().filter_map(|index| Some((*index, rules.get(*index)?)));
        let concerned = of_slice().filter(|(_, rule)| rule.parsed.concerns(tool) && rule.parsed.is_for(&principal));
        let matter: Vec<(usize, &Rule)> = concerned.collect();
        let mut reads = Reads::default();
        for (_, rule) in &matter {
            reads.merge(&rule.reads);
        }
        let caps = matter.iter().filter_map(|(_, rule)| Some((rule.id.clone(), rule.cap.clone()?)));
        let caps: Vec<(String, Cap)> = caps.collect();
        let named = tools.counts.values().filter(|count| reads.counts.contains(&count.name)).cloned();
        let counts = named.chain(caps.iter().map(|(_, cap)| cap.count.clone())).collect();
        let set = if self.is_whole {
            reads.context = Names::All;
            reads.approval_facts = true;
            Set::of(of_slice().map(|(_, rule)| (rule.id.as_str(), &rule.parsed)))?
        } else {
            Set::of(matter.iter().map(|(_, rule)| (rule.id.as_str(), &rule.parsed)))?
        };
        Ok(Prepared {
            subject: subject.clone(),
            rules: matter.into_iter().map(|(index, _)| index).collect(),
            set,
            world: World::new(tool, subject, principal)?,
            fixed: (reads.nothing_of_the_call() && caps.is_empty()).then(Default::default),
            outlook: OnceLock::new(),
            reads,
            counts,
            caps,
        })
    }
}

impl Prepared {
    /// The answer, which is worked out anew only where something of the call can change it.
    pub(super) fn answer(&self, permission: Permission, work_out: impl FnOnce() -> PolicyVerdict) -> PolicyVerdict {
        let fixed = self.fixed.as_ref().and_then(|answers| answers.get(permission as usize));
        match fixed {
            Some(answer) => answer.get_or_init(work_out).clone(),
            None => work_out(),
        }
    }

    /// Whether nothing of a call can change the answer but its permission.
    pub(super) fn is_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// What calls can come to, worked out once.
    pub(super) fn outlook(&self, work_out: impl FnOnce() -> Outlook) -> Outlook {
        self.outlook.get_or_init(work_out).clone()
    }
}
