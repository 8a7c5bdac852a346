//! `lockgate policy explain`: why a call was, or would be, allowed, asked about or denied.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use lockgate::assembly::{Assembly, AssemblyError};
use lockgate::config::{HookTable, HookWhen, QuotaTable, RunFile};
use lockgate::contract::arguments::Arguments as CallArguments;
use lockgate::contract::effect::Permission;
use lockgate::contract::ids::{CallId, RunId};
use lockgate::contract::nearest::nearest;
use lockgate::contract::ports::{
    Approvers, BoxFuture, Count, CountReader, Counts, Journal, JournalError, PolicyDecision, PolicyVerdict,
};
use lockgate::contract::run::RunFacts;
use lockgate::contract::subject::Subject;
use lockgate::contract::time::Timestamp;
use lockgate::contract::tool::ToolSpec;
use lockgate::executor::{Considered, ToolNames};
use lockgate::harness::{Past, PastCall, PastDecision, PastVeto};
use lockgate::policy::cedar::{Fact, Facts, NearMiss, RuleText, Rules};
use serde::Serialize;

use super::judge::{Judge, Unknown, again, named};
use super::looking;
use crate::arguments::Format;
use crate::commands::call::standard_input;
use crate::commands::runs::handlers;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::render::policy::explained;
use crate::stored::{JournalArgument, Stored};

/// Say why a call was, or would be, allowed, asked about or denied
#[derive(Debug, Args)]
#[command(after_help = "\
A call of the journal is shown with what was recorded about it, and with what the rules of today
answer to the same call as of then. Only what is counted, in its run and beyond, is what is counted
today. Any other call is decided about without being run: nothing is recorded, nobody is asked, and
no hook is started. A decision point is told that nothing follows, and is asked about today's time.

Examples:
  lockgate policy explain run-34c559713956:step-0:call-0
  lockgate policy explain payments.toml pay '{\"invoice\": \"7\", \"amount\": 500}'

Exit codes:
  0  explained
  2  usage or configuration, or there is no such call")]
pub(super) struct Arguments {
    /// A call's id, as `runs show` has it; or a run file, for a call of one of its tools
    #[arg(value_name = "CALL|RUNFILE")]
    subject: String,
    /// The tool
    tool: Option<String>,
    /// The raw argument text; `-` reads it from standard input, nothing stands for `{}`
    #[arg(value_name = "ARGUMENTS")]
    text: Option<String>,
    /// The run file whose rules are asked about a call of the journal; without it, the one that the run names
    #[arg(long, value_name = "RUNFILE", conflicts_with = "tool")]
    run_file: Option<PathBuf>,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    journal: JournalArgument,
}

/// What is known about the decision on one call.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    pub(crate) tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    /// Whether the run file's subject sees the tool: of a call that is only supposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seen: Option<bool>,
    /// What the journal says was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recorded: Option<Recorded>,
    /// The hook that stopped it, once the policy had let it pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped_by: Option<Stopped>,
    /// What is answered now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<Decided>,
    /// Whether the rules are those that were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_set: Option<bool>,
    /// Why nothing is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<String>,
    /// What could stop a supposed call that the policy lets pass.
    #[serde(flatten)]
    pub(crate) besides: Besides,
}

/// What is neither started nor counted for a call that nobody made.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Besides {
    /// The hooks that would be asked, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hooks: Vec<String>,
    /// The quotas that bound such calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) quotas: Vec<Bound>,
}

/// So many calls at most.
#[derive(Debug, Serialize)]
pub(crate) struct Bound {
    pub(crate) name: String,
    pub(crate) most: u32,
}

/// A hook's veto.
#[derive(Debug, Serialize)]
pub(crate) struct Stopped {
    pub(crate) hook: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) at: Timestamp,
}

/// A recorded answer.
#[derive(Debug, Serialize)]
pub(crate) struct Recorded {
    pub(crate) answer: &'static str,
    pub(crate) policies: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) shadow: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) set: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) at: Timestamp,
}

/// An answer with everything that it stands on.
#[derive(Debug, Serialize)]
pub(crate) struct Decided {
    pub(crate) engine: &'static str,
    pub(crate) answer: &'static str,
    pub(crate) reason: String,
    /// The policies that determined it, as the journal would name them.
    pub(crate) policies: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) set: Option<String>,
    /// The texts of those that are rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<RuleText>,
    /// Rules that permit calls of the tool, where none permits this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) near: Vec<NearMiss>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asks: Option<Asks>,
    pub(crate) permission: PermissionView,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) facts: Option<Facts>,
    /// The rules look at numbers, which are not those of then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) numbers_of_today: bool,
    /// What is answered by whoever is only tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shadow: Option<Box<Decided>>,
    /// Why whoever is only tried gives no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shadow_unknown: Option<String>,
}

/// What a question would demand.
#[derive(Debug, Serialize)]
pub(crate) struct Asks {
    /// Whose yes; absent: that of any one person who may decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approvers: Option<Approvers>,
    pub(crate) open_for_seconds: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) because: Option<String>,
}

/// What the tool declares, and what became of it.
#[derive(Debug, Serialize)]
pub(crate) struct PermissionView {
    pub(crate) declared: Permission,
    pub(crate) effective: Permission,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

pub(super) async fn execute(arguments: &Arguments, output: &Output) -> Result<Exit, CliError> {
    let explained = match &arguments.tool {
        Some(tool) => supposed(arguments, tool).await?,
        None => recorded(arguments, output).await?,
    };
    match arguments.format {
        Format::Human => output.text(&self::explained(&explained)),
        Format::Json => output.object(&explained),
        Format::Jsonl => output.line(&explained),
    }
    Ok(Exit::Ok)
}

/// A call that nobody made.
async fn supposed(arguments: &Arguments, name: &str) -> Result<Explained, CliError> {
    let text = match arguments.text.as_deref() {
        Some("-") => standard_input()?,
        text => text.unwrap_or_default().to_owned(),
    };
    let assembly = Assembly::open(Path::new(&arguments.subject), looking()?).await?;
    let Some(tool) = assembly.registry.get(name) else {
        let names = assembly.registry.names();
        let nearest = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        return Err(CliError::NoSuchTool { name: name.to_owned(), nearest });
    };
    let seen = assembly.discovery.bind().allowed.permits(name);
    let version = Some(tool.spec().version().to_owned());
    let subject = assembly.run_file.subject.subject();
    let at = assembly.gate.clock().now();
    let case = Case { assembly: &assembly, subject: &subject, step: 0, at, run: RunFacts::default(), counted: None };
    let decided = match assembly.gate.consider(Arc::clone(&tool), &text) {
        Ok(considered) => case.decided(&considered).await,
        Err(why) => Err(Unknown::Refused(why)),
    };
    let mut explained = Explained { version, seen: Some(seen), ..Explained::of(name) };
    match decided {
        Ok(now) => {
            if now.answer != PolicyDecision::Deny.word() {
                explained.besides = Besides::of(&assembly.run_file, tool.spec());
            }
            explained.now = Some(now);
        }
        Err(unknown) => explained.unknown = Some(assembly.gate.scrub(&unknown.sentence()).into_owned()),
    }
    Ok(explained)
}

/// A call of the journal.
async fn recorded(arguments: &Arguments, output: &Output) -> Result<Explained, CliError> {
    let url = match (&arguments.journal.journal, &arguments.run_file) {
        (Some(url), _) => Some(url.clone()),
        (None, Some(run_file)) => RunFile::read(run_file).map_err(AssemblyError::from)?.journal.url,
        (None, None) => None,
    };
    let stored = Stored::open(url.as_deref())?;
    let (run, call_id) = stored.find_call(&arguments.subject).await?;
    let (events, state) = stored.state(&run).await?;
    let past = Past::of(&events).map_err(CliError::fold(&run))?;
    let call = past.call(&call_id).ok_or_else(|| CliError::NotFound { thing: "call", id: call_id.to_string() })?;
    let mut explained = Explained { call_id: Some(call_id.to_string()), ..Explained::of(&call.tool_name) };
    let veto = call.stopped_by.as_ref();
    let Some(at) = call.decision.as_ref().map(|decision| decision.at).or(veto.map(|veto| veto.at)) else {
        explained.unknown = Some(undecided(call));
        return Ok(explained);
    };
    explained.recorded = call.decision.as_ref().map(Recorded::of);
    explained.stopped_by = veto.map(|veto| Stopped::of(veto, call));
    let assembly = match handlers(arguments.run_file.as_deref(), &stored.journal, &state).await {
        Ok(assembly) => assembly,
        // What was recorded is known all the same.
        Err(error) if arguments.run_file.is_none() => {
            output.error(&error, error.hint().as_deref());
            explained.unknown = Some("nobody can be asked: the run file of its run does not load".to_owned());
            return Ok(explained);
        }
        Err(error) => return Err(error),
    };
    for warning in &assembly.warnings {
        output.warning(warning);
    }
    let subject = &past.start.subject;
    let counted =
        Some(Counted { journal: stored.journal.as_ref(), run: &run, call: &call_id, subject: subject.source() });
    let case = Case { assembly: &assembly, subject, step: call.step, at, run: state.facts(&call_id), counted };
    let decided = match again(stored.journal.as_ref(), &assembly, call).await? {
        Ok(considered) => {
            explained.version = Some(considered.tool.spec().version().to_owned());
            case.decided(&considered).await
        }
        Err(unknown) => Err(unknown),
    };
    match decided {
        Ok(now) => {
            explained.same_set = explained.recorded.as_ref().map(|recorded| recorded.set == now.set);
            explained.now = Some(now);
        }
        Err(unknown) => explained.unknown = Some(assembly.gate.scrub(&unknown.sentence()).into_owned()),
    }
    Ok(explained)
}

/// Why no policy decided a call.
fn undecided(call: &PastCall) -> String {
    match &call.ending {
        Some((Some(code), text)) => {
            let why = text.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
            format!("it never got to the policy: `{}`{why}", code.word())
        }
        _ => "it did not get to the policy yet".to_owned(),
    }
}

impl Explained {
    /// Nothing is known of it yet.
    fn of(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            version: None,
            call_id: None,
            seen: None,
            recorded: None,
            stopped_by: None,
            now: None,
            same_set: None,
            unknown: None,
            besides: Besides::default(),
        }
    }
}

impl Besides {
    fn of(run_file: &RunFile, tool: &ToolSpec) -> Self {
        let before = run_file.hook.iter().filter(|table| table.when == HookWhen::Before);
        let tools = |table: &HookTable| table.tools.clone().map_or(ToolNames::All, ToolNames::Only);
        let asked = before.filter(|table| tools(table).covers(tool.name()));
        let quotas = run_file.quota.iter().map(QuotaTable::quota);
        let bounding = quotas.filter(|quota| quota.count.covers(tool.name(), tool.effect()));
        Self {
            hooks: asked.map(|table| table.name.clone()).collect(),
            quotas: bounding.filter_map(|quota| Some(Bound { most: quota.most?, name: quota.count.name })).collect(),
        }
    }
}

impl Stopped {
    fn of(veto: &PastVeto, call: &PastCall) -> Self {
        let reason = call.ending.as_ref().and_then(|(_, text)| text.clone());
        Self { hook: veto.hook.clone(), reason, at: veto.at }
    }
}

impl Recorded {
    /// The journal holds no secrets.
    fn of(decision: &PastDecision) -> Self {
        let (policies, set) = named(decision.acting());
        Self {
            answer: decision.answer.word(),
            policies,
            shadow: decision.shadow().map(str::to_owned).collect(),
            set,
            reason: decision.reason.clone(),
            at: decision.at,
        }
    }
}

/// The facts of one call beside its tool and its arguments.
struct Case<'a> {
    assembly: &'a Assembly,
    subject: &'a Subject,
    step: u32,
    at: Timestamp,
    /// What the run did by now.
    run: RunFacts,
    /// Where calls are counted; for a call that nobody made, none is.
    counted: Option<Counted<'a>>,
}

/// How many calls were admitted by now, as one call of the journal would find it.
struct Counted<'a> {
    journal: &'a dyn Journal,
    run: &'a RunId,
    call: &'a CallId,
    subject: String,
}

impl CountReader for Counted<'_> {
    fn admitted<'c>(&'c self, counts: &'c [Count]) -> BoxFuture<'c, Result<Vec<u64>, JournalError>> {
        self.journal.admitted(self.run, self.call, &self.subject, counts)
    }
}

impl Case<'_> {
    /// What is answered, and beside it by whoever is in the shadow.
    async fn decided(&self, considered: &Considered) -> Result<Decided, Unknown> {
        let mut decided = self.by(&Judge::acting(self.assembly), considered).await?;
        if let Some(tried) = Judge::tried(self.assembly) {
            match self.by(&tried, considered).await {
                Ok(shadow) => decided.shadow = Some(Box::new(shadow)),
                Err(unknown) => {
                    decided.shadow_unknown = Some(self.assembly.gate.scrub(&unknown.sentence()).into_owned());
                }
            }
        }
        Ok(decided)
    }

    async fn by(&self, judge: &Judge, considered: &Considered) -> Result<Decided, Unknown> {
        let gate = &self.assembly.gate;
        let spec = considered.tool.spec();
        let none = || judge.rules().map(|rules| rules.counts(spec, self.subject)).unwrap_or_default();
        let counts = match &self.counted {
            Some(counted) => Counts::read_by(counted),
            None => Counts::of(none().into_iter().map(|count| (count, 0))),
        };
        let request = considered.request(self.subject, self.step, self.run, &counts);
        let verdict = judge.decide(request, self.at).await.map_err(Unknown::NoAnswer)?;
        let scrubbed = |text: &str| gate.scrub(text).into_owned();
        let ids: Vec<&str> = verdict.policies.iter().filter_map(|policy| policy.strip_prefix("cedar:")).collect();
        let texts = |rules: &Rules| ids.iter().filter_map(|id| rules.rule_text(id)).collect::<Vec<_>>();
        let rules = judge.rules().map(texts).unwrap_or_default();
        let unpermitted = verdict.decision == PolicyDecision::Deny && ids.is_empty();
        let near = judge.rules().filter(|_| unpermitted).map(|rules| rules.near(&request, self.at, judge.in_shadow()));
        // Without secrets, what is shown may fit no type: then it is named as such.
        let document = considered.arguments.document();
        let shown = gate.redactor().scrub_document(document).unwrap_or_else(|| document.clone());
        let shown = CallArguments::from_document(shown).unwrap_or_else(|_| CallArguments::empty());
        let facts = judge.rules().and_then(|rules| rules.facts(&request, &shown, self.at, judge.in_shadow()));
        let (policies, set) = named(verdict.policies.iter().map(String::as_str));
        Ok(Decided {
            engine: judge.engine(),
            answer: verdict.decision.word(),
            reason: scrubbed(&verdict.reason),
            policies,
            set,
            rules: rules.into_iter().map(|rule| RuleText { text: scrubbed(&rule.text), ..rule }).collect(),
            near: near.unwrap_or_default(),
            asks: (verdict.decision == PolicyDecision::Ask).then(|| self.asks(&verdict, considered)),
            permission: PermissionView {
                declared: spec.permission(),
                effective: considered.permission,
                reason: spec.permission_reason().map(scrubbed),
            },
            facts: facts.map(|facts| Facts {
                principal: scrubbed(&facts.principal),
                roles: facts.roles.iter().map(|role| scrubbed(role)).collect(),
                facts: facts.facts.into_iter().map(|it| Fact { value: scrubbed(&it.value), ..it }).collect(),
                ..facts
            }),
            numbers_of_today: self.counted.is_some() && judge.looks_at_counts(spec, self.subject),
            shadow: None,
            shadow_unknown: None,
        })
    }

    fn asks(&self, verdict: &PolicyVerdict, considered: &Considered) -> Asks {
        let gate = &self.assembly.gate;
        let options = gate.options();
        Asks {
            approvers: options.approvers_of(&verdict.obligations),
            open_for_seconds: options.open_for(&verdict.obligations, considered.tool.spec().effect()).as_secs(),
            because: verdict.obligations.because.as_deref().map(|because| gate.scrub(because).into_owned()),
        }
    }
}
