//! `lockgate approvals remember`: what was approved once becomes a rule, which a person reads and puts where rules stand.

mod error;

use std::path::{Path, PathBuf};

use clap::Args;
use lockgate::assembly::Assembly;
use lockgate::config::PolicyMode;
use lockgate::contract::approval::{Approval, ApprovalState, NotEntitled};
use lockgate::contract::ports::{Approvers, Clock as _, Decision, DecisionRefused, PolicyDecision, PolicyVerdict};
use lockgate::host::clock::SystemClock;
use lockgate::host::files;
use lockgate::policy::cedar::{Remembered, RuleFile, RuleFiles, Rules, ToRemember};
use lockgate::sources::mock::TimeSpan;

pub(crate) use self::error::RememberError;
use crate::commands::runs::handlers;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;
use crate::person::{decider, proof, somebody};
use crate::stored::{JournalArgument, Stored};

/// Print a rule that allows an approved call again, for some time and so many calls
#[derive(Debug, Args)]
#[command(after_help = "\
The rule is for the same tenant, user, agent, tool and version, and for the same arguments. It decides nothing until it
stands in a file that `[policy] files` of the run file names.

Exit codes:
  0  the rule was printed, or appended
  1  it cannot be remembered: it is not yours to decide, or more would be allowed than was approved
  2  usage or configuration, or there is no such approval

Example:
  lockgate approvals remember apr-0123 --for 30d --uses 20 --into always.cedar")]
pub(super) struct Remember {
    /// The approval's id, or the start of it
    id: String,
    /// For how long, such as `30d`: 90 days at most
    #[arg(long = "for", value_name = "TIME")]
    lasts: TimeSpan,
    /// For how many calls of the tool by the same subject
    #[arg(long, value_name = "COUNT")]
    uses: u32,
    /// An argument that may have any value; may be repeated. Not for tools with effect `external`
    #[arg(long, value_name = "ARGUMENT")]
    any: Vec<String>,
    /// Append the rule to this file, which `[policy] files` of the run file names already
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Who has it remembered [default: the user of this session]
    #[arg(long, value_name = "NAME", value_parser = somebody)]
    by: Option<String>,
    #[command(flatten)]
    journal: JournalArgument,
}

pub(super) async fn execute(arguments: Remember, output: &Output) -> Result<Exit, CliError> {
    let stored = Stored::open(arguments.journal.journal.as_deref())?;
    let approval = stored.find_approval(&arguments.id).await?;
    let id = || approval.approval_id.clone();
    if !matches!(approval.state, ApprovalState::Granted | ApprovalState::Consumed) {
        return Err(RememberError::NotApproved { approval: id(), state: approval.state }.into());
    }
    if !approval.shows_what_is_bound() {
        return Err(RememberError::ShowsSomethingElse(id()).into());
    }
    let (_, state) = stored.state(&approval.run_id).await?;
    let assembly = handlers(None, &stored.journal, &state).await?;
    let Some(cedar) = &assembly.cedar else {
        return Err(RememberError::NoRules.into());
    };
    let tool = assembly.registry.get(&approval.tool_name);
    let tool = tool.ok_or_else(|| RememberError::NoTool(approval.tool_name.clone()))?;
    let by = decider(arguments.by.as_deref(), &approval)?;
    let wanted = ToRemember {
        approval: &approval,
        tool: tool.spec(),
        subject: &state.start().subject,
        any: &arguments.any,
        environment: assembly.gate.options().environment.as_deref(),
        by: &by,
        from: SystemClock.now(),
        lasts: arguments.lasts.as_duration(),
        uses: arguments.uses,
    };
    let rules = cedar.rules();
    let remembered = Remembered::of(&wanted).map_err(RememberError::from)?;
    may_decide(&assembly, &approval, &rules.of_approved(&wanted).map_err(RememberError::from)?, &by)?;
    if holds_a_secret(&assembly, &remembered) {
        return Err(RememberError::Secret.into());
    }
    let Place { path, files } = Place::of(&assembly, arguments.into.as_deref(), &remembered)?;
    let loaded: Rules = rules.reload(&files).map_err(RememberError::DoesNotLoad)?;
    loaded.remembers(&remembered, &wanted).map_err(RememberError::from)?;

    if assembly.run_file.policy.mode == PolicyMode::Shadow {
        output.warning("`policy.mode` is `shadow`: the rule would be tried, and decide nothing");
    }
    let Some(Replaced { path, before, after }) = path else {
        output.text(&remembered.text);
        output.note("\nnothing is remembered yet: read it, and put it into a file that `[policy] files` names\n");
        return Ok(Exit::Ok);
    };
    let written = files::replace(&path, before.as_bytes(), after.as_bytes());
    written.map_err(|cause| CliError::Write { path: path.clone(), cause })?;
    output.text(&remembered.text);
    output.note(&format!(
        "\nappended to {}; it holds for every run that begins or goes on from now on\n",
        path.display()
    ));
    Ok(Exit::Ok)
}

/// Whoever has a yes remembered could say it: to the question as it was, and as it would be asked today. One person alone does
/// not say it for several.
fn may_decide(assembly: &Assembly, approval: &Approval, today: &PolicyVerdict, by: &str) -> Result<(), CliError> {
    let asked_today = match today.decision {
        PolicyDecision::Ask => assembly.gate.options().approvers_of(&today.obligations),
        PolicyDecision::Allow => return Err(RememberError::AllowedAlready(approval.tool_name.clone()).into()),
        PolicyDecision::Deny => return Err(RememberError::DeniedToday(today.reason.clone()).into()),
    };
    let roles = assembly.run_file.approvals.roles_of(by);
    let decision =
        Decision { roles, proof: proof(by), ..Decision::new(approval.approval_id.clone(), ApprovalState::Granted, by) };
    for approvers in [approval.approvers.clone(), asked_today] {
        if let Some(several) = approvers.as_ref().map(Approvers::needed).filter(|it| *it > 1) {
            return Err(RememberError::TakesSeveral(several).into());
        }
        let question = Approval { approvers, ..approval.clone() };
        match question.entitles(&decision) {
            // Whoever said it once may say it again.
            Ok(()) | Err(NotEntitled::Twice) => {}
            Err(why) => {
                let refused =
                    DecisionRefused::NotEntitled { approval: approval.approval_id.clone(), by: by.to_owned(), why };
                return Err(refused.into());
            }
        }
    }
    Ok(())
}

/// Whether something in the rule would not be shown elsewhere: a file of rules is read by many.
fn holds_a_secret(assembly: &Assembly, remembered: &Remembered) -> bool {
    assembly.gate.scrub(&remembered.text) != remembered.text
}

/// Where the rule is to stand, and the rules as they are with it there.
struct Place {
    path: Option<Replaced>,
    files: Vec<RuleFile>,
}

/// A file whose text becomes another one.
struct Replaced {
    /// The file itself, and no link to it.
    path: PathBuf,
    before: String,
    after: String,
}

impl Place {
    fn of(assembly: &Assembly, into: Option<&Path>, remembered: &Remembered) -> Result<Self, CliError> {
        let folder = assembly.path.parent().unwrap_or(Path::new(""));
        let rule_files = RuleFiles::new(folder, assembly.run_file.policy.files.iter().cloned());
        let mut files = rule_files.read().map_err(RememberError::DoesNotLoad)?;
        let Some(into) = into else {
            files.push(RuleFile { name: "remembered".to_owned(), text: remembered.text.clone() });
            return Ok(Self { path: None, files });
        };
        let path = files::resolve(into).map_err(|cause| CliError::File { path: into.to_owned(), cause })?;
        let is_it = |file: &&mut RuleFile| {
            !file.name.starts_with("lockgate:")
                && files::resolve(&folder.join(&file.name)).is_ok_and(|resolved| resolved == path)
        };
        let file = files.iter_mut().find(is_it).ok_or_else(|| RememberError::NoRuleFile(into.to_owned()))?;
        let gap = match file.text.as_str() {
            "" => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        let after = format!("{}{gap}{}", file.text, remembered.text);
        let before = std::mem::replace(&mut file.text, after.clone());
        Ok(Self { path: Some(Replaced { path, before, after }), files })
    }
}
