//! Whose yes a question needs, as rules and decision points write it.

use lockgate_contract::ports::Approvers;

/// `finance`, `finance,legal`, `finance:2`, `:2`. Roles are scopes, which may hold a colon: only a number behind the last one
/// is a count.
pub(crate) fn approvers(text: &str) -> Option<Approvers> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (roles, count) = match text.rsplit_once(':') {
        Some((roles, count)) if digits(count) => (roles, count.parse().ok().filter(|count| *count > 0)?),
        _ if text.is_empty() => return None,
        _ => (text, 1),
    };
    if roles.is_empty() {
        return Some(Approvers { roles: Vec::new(), count });
    }
    let mut roles: Vec<String> = roles.split(',').map(|role| role.trim().to_owned()).collect();
    roles.sort_unstable();
    roles.dedup();
    (!roles.iter().any(String::is_empty)).then_some(Approvers { roles, count })
}
