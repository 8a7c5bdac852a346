//! Who may decide a question, and what counts as a yes (R-167, four eyes).

use serde::{Deserialize, Serialize};

use crate::approval::{Approval, ApprovalState};
use crate::arguments::Arguments;
use crate::ports::{Approvers, Decision};
use crate::time::Timestamp;

/// How somebody who decides proved who they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Not at all: it is a name that was said.
    #[default]
    Claimed,
    /// The operating system says that the deciding process is theirs.
    OsUser,
    /// The program that took the decision checked it in its own way.
    Authenticated,
}

impl Proof {
    /// The word in files and texts.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::OsUser => "os_user",
            Self::Authenticated => "authenticated",
        }
    }
}

/// One person's yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Yes {
    /// Who.
    pub by: String,
    /// The roles that they had when they said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// How they proved who they are.
    pub proof: Proof,
    /// When.
    pub at: Timestamp,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why somebody's decision about a question does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotEntitled {
    /// They did not prove who they are.
    Unproven,
    /// It is asked on their own behalf, or on behalf of whom they act for.
    Subject,
    /// They have none of the roles.
    Role,
    /// They said yes before: the next yes is another person's.
    Twice,
}

impl NotEntitled {
    /// Every reason.
    pub const ALL: &[Self] = &[Self::Unproven, Self::Subject, Self::Role, Self::Twice];

    /// The word in events.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unproven => "unproven",
            Self::Subject => "subject",
            Self::Role => "role",
            Self::Twice => "twice",
        }
    }

    /// The same for people, behind a sentence that says who cannot decide.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Unproven => "they did not prove who they are",
            Self::Subject => "it is asked on their own behalf",
            Self::Role => "they have none of the roles that it needs",
            Self::Twice => "they said yes already, and another person has to",
        }
    }
}

impl Approvers {
    /// How many different people have to say yes: at least one.
    pub fn needed(&self) -> u32 {
        self.count.max(1)
    }

    /// Whether somebody with these roles is one of them.
    pub fn have(&self, roles: &[String]) -> bool {
        self.roles.is_empty() || self.roles.iter().any(|role| roles.contains(role))
    }
}

impl Approval {
    /// Whether this decision is by somebody who may take it. Where no approvers are required, anybody may.
    ///
    /// Where they are, a yes and a no are for people with the role, who proved who they are, and who are neither the
    /// subject's user nor somebody acting for that user. The subject's own user may take the question back.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn entitles(&self, decision: &Decision) -> Result<(), NotEntitled> {
        let Some(required) = &self.approvers else { return Ok(()) };
        let is_own = self.is_own(&decision.by) || decision.acts_for.as_deref().is_some_and(|who| self.is_own(who));
        if decision.proof == Proof::Claimed {
            Err(NotEntitled::Unproven)
        } else if is_own && decision.answer == ApprovalState::Withdrawn {
            Ok(())
        } else if is_own {
            Err(NotEntitled::Subject)
        } else if !required.have(&decision.roles) {
            Err(NotEntitled::Role)
        } else if self.repeats(decision) {
            Err(NotEntitled::Twice)
        } else {
            Ok(())
        }
    }

    /// Whether somebody says yes a second time to the same arguments: to others it is their first.
    fn repeats(&self, decision: &Decision) -> bool {
        let is_same = |arguments: &Arguments| arguments.digest() == self.arguments_digest;
        decision.answer == ApprovalState::Granted
            && decision.edit.as_ref().is_none_or(is_same)
            && self.yeses.iter().any(|yes| same(&yes.by, &decision.by))
    }

    /// How many yeses are still missing.
    pub fn missing_yeses(&self) -> u32 {
        match &self.approvers {
            Some(required) => required.needed().saturating_sub(self.yeses_of(required)),
            None => u32::from(self.yeses.is_empty()),
        }
    }

    /// Whether the yeses are those of enough different people for these approvers. A yes is another's than the subject's,
    /// and whoever said it proved who they are.
    pub fn is_enough_for(&self, required: &Approvers) -> bool {
        self.yeses_of(required) >= required.needed()
    }

    fn yeses_of(&self, required: &Approvers) -> u32 {
        let counts = |at: usize, yes: &Yes| {
            yes.proof != Proof::Claimed
                && !self.is_own(&yes.by)
                && required.have(&yes.roles)
                && !self.yeses[..at].iter().any(|before| same(&before.by, &yes.by))
        };
        let counted = self.yeses.iter().enumerate().filter(|(at, yes)| counts(*at, yes)).count();
        u32::try_from(counted).unwrap_or(u32::MAX)
    }

    /// Whether a name is that of the subject's user or agent.
    fn is_own(&self, name: &str) -> bool {
        same(name, &self.user) || same(name, &self.agent)
    }
}

/// Whether two names may be those of one person. What may be one counts as one: names that differ in case or in the blanks
/// around them are no two people.
pub fn same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
