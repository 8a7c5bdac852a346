//! How often a rule applies: `@uses("20")` calls since `@since("2026-01-02T12:00:00.000Z")`.

use std::collections::BTreeMap;
use std::fmt;

use lockgate_contract::ports::{Count, Per};
use lockgate_contract::time::Timestamp;

use super::adapter::Parsed;

/// A rule that permits calls of one tool until so many were admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cap {
    pub(super) uses: u32,
    /// Every call of the tool by the same subject, whatever let it pass.
    pub(super) count: Count,
}

/// What is wrong with annotations, and what to do about it.
pub(super) type Wrong = (String, &'static str);

impl Cap {
    /// Takes the annotations of a rule that say how often it applies.
    pub(super) fn take(
        id: &str,
        parsed: &Parsed,
        annotations: &mut BTreeMap<String, String>,
    ) -> Result<Option<Self>, Wrong> {
        let (uses, from) = match (annotations.remove("uses"), annotations.remove("since")) {
            (None, None) => return Ok(None),
            (Some(uses), Some(since)) => (uses, since),
            (Some(_), None) => {
                return Err((
                    format!("`{id}` has `@uses`, and does not say from when on they count"),
                    "write when, as `@since(\"2026-01-02T12:00:00.000Z\")`",
                ));
            }
            (None, Some(_)) => {
                return Err((
                    format!("`{id}` has `@since`, and does not say how often it applies from then on"),
                    "write how often, as `@uses(\"20\")`",
                ));
            }
        };
        let none = |name: &str, value: &str| format!("`@{name}(\"{}\")` says nothing", value.escape_debug());
        let digits = uses.bytes().all(|byte| byte.is_ascii_digit());
        let uses = uses
            .parse()
            .ok()
            .filter(|uses| digits && *uses > 0)
            .ok_or_else(|| (none("uses", &uses), "write a whole number, such as `20`"))?;
        let from: Timestamp =
            from.parse().map_err(|_| (none("since", &from), "write a time, such as `2026-01-02T12:00:00.000Z`"))?;
        if parsed.forbids() {
            return Err((
                format!("`{id}` forbids, and would no longer do so once it was used so often"),
                "only a rule that permits has `@uses`",
            ));
        }
        let tool = parsed.only_tool().ok_or_else(|| {
            (
                format!("`{id}` has `@uses`, and is about more than one tool"),
                "name the tool: `action == Tool::Action::\"NAME\"`",
            )
        })?;
        let count = Count {
            name: format!("uses of {id}"),
            tool: Some(tool),
            effect: None,
            per: Per::Subject,
            within: None,
            from: Some(from),
        };
        Ok(Some(Self { uses, count }))
    }

    /// Whether the rule does not apply any more after so many calls.
    pub(super) fn is_used_up(&self, admitted: u64) -> bool {
        admitted >= u64::from(self.uses)
    }
}

/// For people: `20 calls since 2026-01-02T12:00:00.000Z`.
impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = if self.uses == 1 { "call" } else { "calls" };
        write!(f, "{} {calls} since {}", self.uses, self.count.from.unwrap_or_default())
    }
}
