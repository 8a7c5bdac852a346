//! A set of rules that loaded: parsed, checked against the schema, its examples true.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lockgate_contract::digest::Digest;
use lockgate_contract::document::Document;
use lockgate_contract::ports::{Count, Counts, PolicyVerdict};
use lockgate_contract::subject::Subject;
use lockgate_contract::tool::ToolSpec;

use super::adapter;
use super::error::{Defect, RulesRefused};
use super::examples::{self, Example};
use super::files::RuleFile;
use super::question::Question;
use super::rule::Rule;
use super::slice::Slice;
use super::tools::{ToolFacts, Tools};

/// What stands before every set: a tool's declared denial.
const FLOOR: (&str, &str) = ("lockgate:floor", include_str!("../../policies/floor.cedar"));

/// Rules that loaded. They never change: other rules are another set.
#[derive(Debug)]
pub struct Rules {
    pub(super) tools: Arc<Tools>,
    pub(super) list: Arc<Vec<Rule>>,
    pub(super) by_id: HashMap<String, usize>,
    /// By tool.
    pub(super) slices: HashMap<String, Slice>,
    pub(super) digest: Digest,
    /// What the journal is told of the whole set.
    pub(super) digest_word: String,
    files: Vec<String>,
    /// What it was read from, so that it can be read about other tools.
    texts: Arc<[RuleFile]>,
    examples: usize,
    warnings: Vec<Defect>,
}

/// The stack on which rules are read, in bytes. What is not used costs nothing.
const STACK: usize = 1 << 28;

impl Rules {
    /// Loads rules about these tools.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them, in the order of the files: what does not parse; else what names itself twice or has an
    /// unknown annotation; else what does not fit the schema that is generated from the tools; else what names an argument that
    /// no rule can read; else the examples that do not hold.
    pub fn load<'t>(tools: impl IntoIterator<Item = &'t ToolSpec>, files: &[RuleFile]) -> Result<Self, RulesRefused> {
        Self::load_counting(tools, Vec::new(), files)
    }

    /// Loads rules that may look at these numbers, as `context.counts.NAME`.
    ///
    /// # Errors
    ///
    /// As [`Rules::load`], and two counts of one name.
    pub fn load_counting<'t>(
        tools: impl IntoIterator<Item = &'t ToolSpec>,
        counts: Vec<Count>,
        files: &[RuleFile],
    ) -> Result<Self, RulesRefused> {
        Self::over(Arc::new(Tools::new(tools, counts)?), files)
    }

    /// The numbers that the answer about such a call depends on: those of them that its rules look at, and no others.
    pub fn counts(&self, tool: &ToolSpec, subject: &Subject) -> Vec<Count> {
        self.counts_read(tool.name(), subject)
    }

    /// Whether the answer about such a call depends on what its run did before.
    pub fn looks_at_the_run(&self, tool: &ToolSpec, subject: &Subject) -> bool {
        let (Some(slice), Some(tool)) = (self.slices.get(tool.name()), self.tools.get(tool.name())) else {
            return false;
        };
        let prepared = slice.prepared(&self.list, &self.tools, tool, subject);
        prepared.is_ok_and(|prepared| prepared.reads.context.contains("run"))
    }

    /// Other rules about the same tools; these stay as they are.
    ///
    /// # Errors
    ///
    /// As [`Rules::load`].
    pub fn reload(&self, files: &[RuleFile]) -> Result<Self, RulesRefused> {
        Self::over(Arc::clone(&self.tools), files)
    }

    /// The same rules about other tools; these stay as they are.
    ///
    /// # Errors
    ///
    /// As [`Rules::load`]: rules that were right about other tools need not be right about these.
    pub fn for_tools<'t>(&self, tools: impl IntoIterator<Item = &'t ToolSpec>) -> Result<Self, RulesRefused> {
        Self::over(Arc::new(Tools::new(tools, self.tools.counts.values().cloned())?), &self.texts)
    }

    /// The digest of the set, over the names and texts of its files.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// How many rules there are, without the one that stands before every set.
    pub fn len(&self) -> usize {
        self.list.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many examples hold.
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// The names of the files.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// What is doubtful, and stops nothing.
    pub fn warnings(&self) -> &[Defect] {
        &self.warnings
    }

    /// The schema that was generated from the tools, in Cedar's own language.
    pub fn schema(&self) -> &str {
        &self.tools.schema_text
    }

    /// The same rules, each of them asked about every call, with every fact of the run: for comparing answers and times.
    #[must_use]
    pub fn unsliced(&self) -> Self {
        Self {
            tools: Arc::clone(&self.tools),
            list: Arc::clone(&self.list),
            by_id: self.by_id.clone(),
            slices: self.tools.iter().map(|tool| (tool.name.clone(), Slice::whole(self.list.len()))).collect(),
            digest: self.digest,
            digest_word: self.digest_word.clone(),
            files: self.files.clone(),
            texts: Arc::clone(&self.texts),
            examples: self.examples,
            warnings: self.warnings.clone(),
        }
    }

    /// The digest that files would have as a set.
    pub(super) fn digest_of(files: &[RuleFile]) -> Digest {
        let texts: Vec<_> = files.iter().map(|file| [file.name.as_str(), file.text.as_str()]).collect();
        // Texts can always be written as JSON.
        let document = Document::from_serialize(&texts).unwrap_or_else(|_| Document::null());
        Digest::of("lockgate.policy-set.v1", &document)
    }

    fn over(tools: Arc<Tools>, files: &[RuleFile]) -> Result<Self, RulesRefused> {
        // Rules are read by recursion, and may be nested as deeply as somebody likes.
        let thread = std::thread::Builder::new().name("rules".to_owned()).stack_size(STACK);
        std::thread::scope(|scope| {
            let reading = thread.spawn_scoped(scope, || Self::read_over(tools, files)).map_err(|error| {
                let text = format!("they cannot be read now, because there is no thread for it: {error}");
                RulesRefused::new(vec![Defect::new("the rules", None, text)])
            })?;
            reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn read_over(tools: Arc<Tools>, files: &[RuleFile]) -> Result<Self, RulesRefused> {
        let rules = parsed(files)?;
        let findings = adapter::validate(&tools.schema, rules.iter().map(|rule| (rule.id.as_str(), &rule.parsed)));
        let by_id: HashMap<_, _> = rules.iter().enumerate().map(|(index, rule)| (rule.id.clone(), index)).collect();
        let (mut defects, mut warnings) = (Vec::new(), Vec::new());
        for finding in findings {
            let Some(rule) = by_id.get(&finding.id).and_then(|index| rules.get(*index)) else { continue };
            let line = finding.line.unwrap_or(rule.line);
            let defect = Defect { hint: finding.help, ..Defect::new(&rule.file, line, finding.text) };
            // Without a tool there is no call that a rule could be about: it is looked at again when there is one.
            let is_error = finding.is_error && tools.iter().next().is_some();
            if is_error { defects.push(defect) } else { warnings.push(defect) }
        }
        refuse(defects)?;
        refuse(rules.iter().flat_map(|rule| unread(rule, &tools)).collect())?;

        let slices: HashMap<_, _> = tools
            .iter()
            .map(|tool| (tool.name.clone(), Slice::of(rules.iter().map(|rule| rule.parsed.concerns(tool)))))
            .collect();
        for (index, rule) in rules.iter().enumerate() {
            if tools.iter().next().is_some() && !slices.values().any(|slice| slice.rules.contains(&index)) {
                warnings.push(Defect::new(&rule.file, rule.line, format!("`{}` is about no registered tool", rule.id)));
            }
        }
        let digest = Self::digest_of(files);
        let mut set = Self {
            tools,
            list: Arc::new(rules),
            by_id,
            slices,
            digest,
            digest_word: format!("cedar-set:{digest}"),
            files: files.iter().map(|file| file.name.clone()).collect(),
            texts: files.into(),
            examples: 0,
            warnings,
        };
        set.examples = set.hold(files)?;
        Ok(set)
    }

    /// How many examples there are, if all of them hold.
    fn hold(&self, files: &[RuleFile]) -> Result<usize, RulesRefused> {
        let (mut count, mut defects) = (0, Vec::new());
        for file in files {
            let (examples, wrong) = examples::read(&file.name, &file.text, &self.tools);
            count += examples.len();
            defects.extend(wrong);
            defects.extend(examples.iter().filter_map(|example| self.contradicts(example)));
        }
        refuse(defects)?;
        Ok(count)
    }

    fn counts_read(&self, tool: &str, subject: &Subject) -> Vec<Count> {
        // Most sets look at no number: they pay nothing.
        if !self.list.iter().any(Rule::looks_at_counts) {
            return Vec::new();
        }
        let (Some(slice), Some(tool)) = (self.slices.get(tool), self.tools.get(tool)) else {
            return Vec::new();
        };
        // A slice that cannot be prepared has no answer, either.
        slice
            .prepared(&self.list, &self.tools, tool, subject)
            .map_or_else(|_| Vec::new(), |prepared| prepared.counts.clone())
    }

    pub(super) fn answer_to(&self, example: &Example, tool: &ToolFacts) -> PolicyVerdict {
        let counts = Counts::of(self.counts_read(&example.tool, &example.subject).into_iter().map(|count| {
            let given = example.counts.get(&count.name).copied();
            (count, given.unwrap_or_default())
        }));
        self.answer(&Question {
            subject: &example.subject,
            tool,
            arguments: &example.arguments,
            arguments_digest: example.arguments.digest(),
            permission: example.permission,
            step: example.step,
            run: example.run,
            counts: &counts,
            now: example.now,
            shadow: false,
        })
    }

    fn contradicts(&self, example: &Example) -> Option<Defect> {
        let tool = self.tools.get(&example.tool)?;
        let verdict = self.answer_to(example, tool);
        let (expected, answered) = (example.expected.word(), verdict.decision.word());
        (expected != answered).then(|| {
            let text =
                format!("the example expects `{expected}`, and the rules answer `{answered}`: {}", verdict.reason);
            Defect::new(&example.file, example.line, text).hint("correct the rules, or the example")
        })
    }
}

/// Every rule of every file, the floor first. Ids are told apart over all of them.
fn parsed(files: &[RuleFile]) -> Result<Vec<Rule>, RulesRefused> {
    let floor = RuleFile { name: FLOOR.0.to_owned(), text: FLOOR.1.to_owned() };
    let of_any_approval = adapter::conditions_of_any_approval();
    let (mut rules, mut defects) = (Vec::<Rule>::new(), Vec::new());
    let mut by_id = BTreeMap::<String, (String, usize)>::new();
    for file in std::iter::once(&floor).chain(files) {
        let parsed = match adapter::parse(&file.text) {
            Ok(parsed) => parsed,
            Err(faults) => {
                defects.extend(
                    faults
                        .into_iter()
                        .map(|fault| Defect { hint: fault.help, ..Defect::new(&file.name, fault.line, fault.text) }),
                );
                continue;
            }
        };
        for (parsed, place) in parsed.into_iter().zip(1..) {
            match Rule::of(parsed, &file.name, place, &of_any_approval) {
                Ok(rule) => {
                    if let Some((file, line)) = by_id.insert(rule.id.clone(), (rule.file.clone(), rule.line)) {
                        let text = format!("`{}` is the id of a rule already: in `{file}`, line {line}", rule.id);
                        defects.push(Defect::new(&rule.file, rule.line, text).hint("give it another `@id`"));
                    }
                    rules.push(rule);
                }
                Err(defect) => defects.push(defect),
            }
        }
    }
    refuse(defects)?;
    Ok(rules)
}

/// The arguments that a rule names and cannot read.
fn unread(rule: &Rule, tools: &Tools) -> Vec<Defect> {
    let concerned: Vec<_> = tools.iter().filter(|tool| rule.parsed.concerns(tool)).collect();
    let defect = |(text, hint): (String, &str)| Defect::new(&rule.file, rule.line, text).hint(hint);
    rule.reads.input.iter().filter_map(|name| unreadable(name, &concerned)).map(defect).collect()
}

/// Why a rule about these tools cannot read this argument. It would take it for absent, also where it is there.
fn unreadable(name: &str, concerned: &[&ToolFacts]) -> Option<(String, &'static str)> {
    let within = |path: &str| path == name || path.starts_with(&format!("{name}."));
    let left_out = |tool: &&&ToolFacts| tool.shape.left_out.iter().any(|left_out| within(&left_out.path));
    if let Some(tool) = concerned.iter().find(left_out) {
        let text =
            format!("Cedar has no type for all of the argument `{name}` of `{}`: no rule can read it", tool.name);
        return Some((text, "`lockgate policy check --schema` shows what rules can read"));
    }
    let declared = |tool: &&ToolFacts| tool.shape.fields.iter().any(|field| field.name == name);
    (!concerned.is_empty() && !concerned.iter().any(declared)).then(|| {
        let text = format!("no tool that the rule is about declares an argument `{name}`");
        (text, "`lockgate policy check --schema` shows what rules can read")
    })
}

fn refuse(defects: Vec<Defect>) -> Result<(), RulesRefused> {
    if defects.is_empty() { Ok(()) } else { Err(RulesRefused::new(defects)) }
}
