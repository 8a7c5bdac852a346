//! The port to a project's own rule of who sees which tool.

use crate::subject::Subject;
use crate::tool::ToolSpec;

/// Hides tools from subjects. It can only narrow: the registry asks it about tools whose declared demands (scopes, level,
/// audience, domain, version) the subject meets, and about no others (R-133).
///
/// It is asked when a run is bound, and again for each run (R-152). Hiding authorises nothing: every call of a tool that
/// is seen still passes the gate (R-139).
///
/// ```
/// use lockgate_contract::ports::Visibility;
/// use lockgate_contract::subject::Subject;
/// use lockgate_contract::tool::ToolSpec;
///
/// /// Only tenants on a contract that covers it see a paid tool.
/// struct Contracts;
///
/// impl Visibility for Contracts {
///     fn sees(&self, subject: &Subject, tool: &ToolSpec) -> bool {
///         subject.tenant == "demo" || !tool.name().starts_with("paid_")
///     }
/// }
/// ```
pub trait Visibility: Send + Sync {
    /// Whether the subject sees the tool. A panic is a no.
    fn sees(&self, subject: &Subject, tool: &ToolSpec) -> bool;
}
