//! What rules call agents, roles, tools and calls.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::str::FromStr;

use cedar_policy::{EntityId, EntityTypeName, EntityUid};
use lockgate_contract::effect::Effect;
use lockgate_contract::subject::Subject;

use super::value::Value;

/// The name of an agent, a role, a tool or an action, with its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cedar) struct Uid(pub(super) EntityUid);

/// Who acts: the agent, and the roles that its subject has.
#[derive(Debug)]
pub(in crate::cedar) struct Principal {
    pub(super) agent: EntityUid,
    pub(super) roles: HashSet<EntityUid>,
}

impl Principal {
    /// The agent of a subject; each of its scopes is a role.
    pub(in crate::cedar) fn of(subject: &Subject) -> Result<Self, String> {
        let roles: Result<_, _> = subject.scopes.iter().map(|role| Uid::of("Role", role).map(|role| role.0)).collect();
        Ok(Self { agent: Uid::of("Agent", &subject.agent)?.0, roles: roles? })
    }

    /// What rules may know of the agent of a subject.
    pub(in crate::cedar) fn attributes(subject: &Subject) -> Vec<(String, Value)> {
        let words = |words: &BTreeSet<String>| Value::set(words.iter().map(|word| Value::string(word)).collect());
        vec![
            ("tenant".to_owned(), Value::string(&subject.tenant)),
            ("user".to_owned(), Value::string(&subject.user)),
            ("level".to_owned(), Value::string(subject.level.word())),
            ("scopes".to_owned(), words(&subject.scopes)),
            ("domains".to_owned(), words(&subject.domains)),
        ]
    }

    /// The agent, as rules name it.
    pub(in crate::cedar) fn agent(&self) -> String {
        self.agent.to_string()
    }

    /// Its roles, as rules name them, sorted.
    pub(in crate::cedar) fn roles(&self) -> Vec<String> {
        let mut roles: Vec<String> = self.roles.iter().map(ToString::to_string).collect();
        roles.sort_unstable();
        roles
    }
}

impl Uid {
    /// A tool at one version.
    pub(in crate::cedar) fn tool(name: &str, version: &str) -> Result<Self, String> {
        Self::of("Tool", &format!("{name}@{version}"))
    }

    /// Calling a tool.
    pub(in crate::cedar) fn action(tool: &str) -> Result<Self, String> {
        Self::of("Tool::Action", tool)
    }

    /// Calling any tool with this effect.
    pub(in crate::cedar) fn effect(effect: Effect) -> Result<Self, String> {
        Self::of("Effect::Action", effect.word())
    }

    /// The tool that an action calls; nothing for a group of actions.
    pub(super) fn called_tool(&self) -> Option<String> {
        let is_call = self.0.type_name().to_string() == "Tool::Action";
        is_call.then(|| self.0.id().unescaped().to_owned())
    }

    fn of(type_name: &str, id: &str) -> Result<Self, String> {
        let type_name = EntityTypeName::from_str(type_name).map_err(|error| error.to_string())?;
        Ok(Self(EntityUid::from_type_name_and_id(type_name, EntityId::new(id))))
    }
}

/// As rules name it.
impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
