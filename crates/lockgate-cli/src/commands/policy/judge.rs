//! Who decides by a run file, asked about calls that it does not run: a call that is only supposed, or one of the journal's.

use std::sync::Arc;

use lockgate::assembly::Assembly;
use lockgate::config::{PolicyEngineWord, PolicyMode};
use lockgate::contract::arguments::Arguments;
use lockgate::contract::digest::Digest;
use lockgate::contract::document::Limits;
use lockgate::contract::ports::{Count, Counts, Journal, PolicyEngine, PolicyRequest, PolicyVerdict};
use lockgate::contract::run::RunFacts;
use lockgate::contract::subject::Subject;
use lockgate::contract::time::Timestamp;
use lockgate::contract::tool::ToolSpec;
use lockgate::executor::Considered;
use lockgate::harness::PastCall;
use lockgate::policy::NativePolicy;
use lockgate::policy::cedar::Rules;

use crate::error::CliError;

/// Decides, and does nothing else.
pub(super) struct Judge {
    engine: Engine,
    /// Whether the file only tries it.
    shadow: bool,
}

/// Who.
enum Engine {
    /// What the tools declare.
    Native(NativePolicy),
    /// Rules.
    Cedar(Arc<Rules>),
    /// A decision point, which is told that nothing follows.
    Http(Arc<dyn PolicyEngine>),
}

/// Why nobody can say what would have been decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unknown {
    /// Its tool is not registered any more.
    Gone,
    /// Its tool has another definition than it had.
    Changed,
    /// What was decided about is not in the journal.
    Secret,
    /// A person put other arguments in place of those that were decided about.
    Edited,
    /// The rules look at what was counted by then, which is in no event.
    Counted,
    /// It would not get to the policy.
    Refused(String),
    /// A hook stopped it, and the answer of the policy, which had let it pass, is in no event.
    Stopped(String),
    /// Who is asked gives no answer.
    NoAnswer(String),
}

impl Judge {
    /// Who acts.
    pub(super) fn acting(assembly: &Assembly) -> Self {
        match assembly.run_file.policy.mode {
            PolicyMode::Enforce => Self::set(assembly),
            PolicyMode::Shadow => Self { engine: Engine::Native(NativePolicy::new()), shadow: false },
        }
    }

    /// Who is only tried beside whoever acts.
    pub(super) fn tried(assembly: &Assembly) -> Option<Self> {
        (assembly.run_file.policy.mode == PolicyMode::Shadow).then(|| Self::set(assembly))
    }

    /// Who the file names, also where that is only tried.
    pub(super) fn set(assembly: &Assembly) -> Self {
        let engine = match (assembly.run_file.policy.engine, &assembly.cedar) {
            (PolicyEngineWord::Cedar, Some(cedar)) => Engine::Cedar(cedar.rules()),
            (PolicyEngineWord::Http, _) => Engine::Http(Arc::clone(&assembly.policy)),
            (PolicyEngineWord::Native | PolicyEngineWord::Cedar, _) => Engine::Native(NativePolicy::new()),
        };
        Self { engine, shadow: assembly.run_file.policy.mode == PolicyMode::Shadow }
    }

    /// What it answers as of this time.
    ///
    /// # Errors
    ///
    /// Why there is no answer: a decision point is not reached, or a number is not known. The gate would deny the call.
    pub(super) async fn decide(&self, request: PolicyRequest<'_>, now: Timestamp) -> Result<PolicyVerdict, String> {
        match &self.engine {
            Engine::Cedar(rules) => {
                request.counts.look(&rules.counts(request.tool, request.subject)).await?;
                Ok(rules.decide(&request, now, self.shadow))
            }
            Engine::Native(native) => native.decide(request).await,
            // It is told its own clock's time: what was then, it cannot be asked.
            Engine::Http(point) => point.decide(request).await,
        }
    }

    /// What it answers to a call of a run's past, whatever was counted by then: that is in no event.
    ///
    /// # Errors
    ///
    /// Why nobody can say.
    pub(super) async fn whatever_was_counted(
        &self,
        considered: &Considered,
        subject: &Subject,
        step: u32,
        now: Timestamp,
    ) -> Result<PolicyVerdict, Unknown> {
        let spec = considered.tool.spec();
        let counts = self.rules().map(|rules| rules.counts(spec, subject)).unwrap_or_default();
        // How often a rule applies is counted from a time on. Any other number may matter in any way.
        let is_a_cap = |count: &Count| count.from.is_some();
        if self.looks_at_the_run(spec, subject) || !counts.iter().all(is_a_cap) {
            return Err(Unknown::Counted);
        }
        let asked = async |each: u64| {
            let counts = Counts::of(counts.iter().cloned().map(|count| (count, each)));
            let request = considered.request(subject, step, RunFacts::default(), &counts);
            self.decide(request, now).await.map_err(Unknown::NoAnswer)
        };
        let unused = asked(0).await?;
        if counts.is_empty() {
            return Ok(unused);
        }
        // Only rules that permit are used up, and none comes back: what both ends answer, all between them do.
        let used_up = asked(u64::MAX).await?;
        if unused.decision == used_up.decision { Ok(used_up) } else { Err(Unknown::Counted) }
    }

    /// Whether the answer depends on what was counted until the call, in its run or beyond.
    pub(super) fn looks_at_counts(&self, tool: &ToolSpec, subject: &Subject) -> bool {
        let counts = self.rules().map(|rules| rules.counts(tool, subject)).unwrap_or_default();
        !counts.is_empty() || self.looks_at_the_run(tool, subject)
    }

    fn looks_at_the_run(&self, tool: &ToolSpec, subject: &Subject) -> bool {
        self.rules().is_some_and(|rules| rules.looks_at_the_run(tool, subject))
    }

    /// Whether its answer is only tried.
    pub(super) fn in_shadow(&self) -> bool {
        self.shadow
    }

    /// The word of the run file.
    pub(super) fn engine(&self) -> &'static str {
        match self.engine {
            Engine::Native(_) => "native",
            Engine::Cedar(_) => "cedar",
            Engine::Http(_) => "http",
        }
    }

    /// The rules, where there are any.
    pub(super) fn rules(&self) -> Option<&Rules> {
        match &self.engine {
            Engine::Native(_) | Engine::Http(_) => None,
            Engine::Cedar(rules) => Some(rules),
        }
    }
}

impl Unknown {
    /// A stable word.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Gone => "tool_gone",
            Self::Changed => "definition_changed",
            Self::Secret => "arguments_not_kept",
            Self::Edited => "edited_since",
            Self::Counted => "counts_not_kept",
            Self::Refused(_) => "refused_before",
            Self::Stopped(_) => "stopped_by_hook",
            Self::NoAnswer(_) => "no_answer",
        }
    }

    /// Why, for people.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Gone => "its tool is not registered any more".to_owned(),
            Self::Changed => "its tool has another definition by now".to_owned(),
            Self::Secret => "the journal does not have its arguments: a secret was taken out of them".to_owned(),
            Self::Edited => "a person edited its arguments, and nothing was decided about the new ones yet".to_owned(),
            Self::Counted => "the rules look at what was counted by then, and that is kept nowhere".to_owned(),
            Self::Refused(why) => format!("it would not get to the policy: {why}"),
            Self::Stopped(hook) => {
                format!("the policy let it pass and hook `{hook}` stopped it: what the policy answered is kept nowhere")
            }
            Self::NoAnswer(why) => format!("there is no answer, with which a call is denied: {why}"),
        }
    }
}

/// The policies that determined an answer, and the word for the whole of them: a set's digest, or where a decision point stands.
pub(super) fn named<'p>(policies: impl IntoIterator<Item = &'p str>) -> (Vec<String>, Option<String>) {
    let (mut each, mut set) = (Vec::new(), None);
    for policy in policies {
        match SETS.iter().find_map(|word| policy.strip_prefix(word)) {
            Some(whole) => set = Some(whole.to_owned()),
            None => each.push(policy.to_owned()),
        }
    }
    (each, set)
}

/// What stands before the word for the whole.
const SETS: [&str; 2] = ["cedar-set:", "http-set:"];

/// A call of the journal as the policy would be asked about it now: with the facts of then, and never with a guess.
pub(super) async fn again(
    journal: &dyn Journal,
    assembly: &Assembly,
    past: &PastCall,
) -> Result<Result<Considered, Unknown>, CliError> {
    let Some(tool) = assembly.registry.get(&past.tool_name) else { return Ok(Err(Unknown::Gone)) };
    if past.definition != Some(tool.spec().definition()) {
        return Ok(Err(Unknown::Changed));
    }
    if past.edited_since {
        return Ok(Err(Unknown::Edited));
    }
    // Where no event has the digest of what was asked about, its question has it.
    let digest = match (&past.arguments_digest, &past.approval) {
        (Some(digest), _) => Some(*digest),
        (None, Some(approval)) => journal.approval(approval).await?.map(|approval| approval.arguments_digest),
        (None, None) => None,
    };
    let permission = past.relaxed.unwrap_or(tool.spec().permission());
    Ok(match assembly.gate.consider(tool, &past.arguments_text) {
        _ if past.redacted => Err(Unknown::Secret),
        Ok(considered) if digest == Some(considered.arguments_digest) => Ok(Considered { permission, ..considered }),
        Ok(_) => Err(Unknown::Secret),
        // Whoever takes a secret out of a text may leave something that fits no schema.
        Err(_) if !is_the_text(&past.arguments_text, digest) => Err(Unknown::Secret),
        Err(why) => Err(Unknown::Refused(why)),
    })
}

/// Whether a text is the arguments with this digest.
fn is_the_text(text: &str, digest: Option<Digest>) -> bool {
    let read = Arguments::parse(text, Limits::ARGUMENTS).ok().map(|arguments| arguments.digest());
    digest.is_none() || read == digest
}
