//! Why an approval is not remembered.

use std::path::PathBuf;

use lockgate::contract::approval::ApprovalState;
use lockgate::contract::ids::ApprovalId;
use lockgate::policy::cedar::{NotRemembered, RulesRefused};
use thiserror::Error;

use crate::exit::Exit;

/// Why an approval is not remembered. Nothing was written.
#[derive(Debug, Error)]
pub(crate) enum RememberError {
    /// Nobody approved it.
    #[error("approval `{approval}` is {}: only what was approved is remembered", .state.word())]
    NotApproved {
        /// The approval.
        approval: ApprovalId,
        /// Where it stands.
        state: ApprovalState,
    },
    /// Its record was written into.
    #[error("approval `{0}` shows something else than what it is bound to")]
    ShowsSomethingElse(ApprovalId),
    /// There is no rule that it could stand beside.
    #[error("the run file decides by declared permissions, which remember nothing")]
    NoRules,
    /// The tool is gone.
    #[error("there is no tool `{0}` any more")]
    NoTool(String),
    /// One person is not several.
    #[error("such a call takes the yes of {0} people: one of them alone does not say it for the next calls")]
    TakesSeveral(u32),
    /// There is nothing to remember.
    #[error("the rules allow this call of `{0}` without asking anybody")]
    AllowedAlready(String),
    /// Nobody could approve it today.
    #[error("the rules deny this call today: {0}")]
    DeniedToday(String),
    /// It would stand in a file that many read.
    #[error("the rule would hold a secret")]
    Secret,
    /// A file that holds no rules of the run.
    #[error("`{}` is not among the `files` of `[policy]`: a rule in it would decide nothing", .0.display())]
    NoRuleFile(PathBuf),
    /// The rules with it.
    #[error("with the rule in it the set does not load:\n{0}")]
    DoesNotLoad(RulesRefused),
    /// The rule itself.
    #[error(transparent)]
    Rule(#[from] NotRemembered),
}

impl RememberError {
    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoRules => {
                "write `engine = \"cedar\"` under `[policy]`, and `files = [\"lockgate:native\", \"always.cedar\"]`: the first \
                 answers as before, and `always.cedar` is for what is remembered"
            }
            Self::NoRuleFile(_) => "list it there first, or leave `--into` out and put the rule where it belongs",
            Self::DoesNotLoad(refused) => return refused.hint().map(str::to_owned),
            Self::Rule(error) => return error.hint(),
            Self::TakesSeveral(_) => "write a rule of your own, and have it reviewed by as many",
            Self::NotApproved { .. }
            | Self::ShowsSomethingElse(_)
            | Self::NoTool(_)
            | Self::AllowedAlready(_)
            | Self::DeniedToday(_)
            | Self::Secret => return None,
        };
        Some(hint.to_owned())
    }

    /// What a script is told.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::NoRules | Self::NoRuleFile(_) | Self::DoesNotLoad(_) => Exit::Usage,
            Self::Rule(NotRemembered::NoUse | NotRemembered::Lasts | NotRemembered::NoSuchArgument { .. }) => {
                Exit::Usage
            }
            _ => Exit::Failed,
        }
    }
}
