//! The pages themselves.

use http::StatusCode;
use lockgate::contract::approval::{Approval, ApprovalState, shown_arguments, visible};
use lockgate::contract::ports::Approvers;
use lockgate::contract::run::RunKind;
use lockgate::contract::time::Timestamp;

use super::MOST_REASON;
use super::answer::STYLE;
use super::desk::{Listed, Shown, yours};
use super::html::Html;
use crate::auth::Person;

/// What the form of a logout is sealed over: no question has this id.
pub(super) const LOG_OUT: &str = "logout";

/// What the page of a question says.
pub(super) struct Question<'p> {
    pub(super) shown: &'p Shown,
    pub(super) person: &'p Person,
    /// The seal of its form.
    pub(super) seal: &'p str,
    /// The seal of the logout.
    pub(super) end: &'p str,
    /// Why something that was sent did not count.
    pub(super) problem: Option<&'p str>,
}

/// The form by which a person logs in.
pub(super) fn login(next: &str, seal: &str, problem: Option<&str>) -> Html {
    let mut html = begun("Log in", None);
    html.markup("<h1>Log in</h1>\n");
    said(&mut html, problem);
    html.markup("<form method=\"post\" action=\"/login\">\n<input type=\"hidden\" name=\"seal\" value=\"").text(seal);
    html.markup("\">\n<input type=\"hidden\" name=\"next\" value=\"").text(next);
    html.markup(
        "\">\n<label for=\"token\">Your token</label>\n\
         <input id=\"token\" name=\"token\" type=\"password\" required autocomplete=\"off\" spellcheck=\"false\">\n\
         <p class=\"faint\">It is one that decides. An agent's token does not.</p>\n\
         <button class=\"yes\">Log in</button>\n</form>\n\
         <p><a href=\"",
    );
    html.text(next).markup("\">I am logged in already</a></p>\n");
    ended(html)
}

/// The questions that wait.
pub(super) fn list(listed: &Listed, person: &Person, end: &str, now: Timestamp) -> Html {
    let mut html = begun("Questions", Some((person, end)));
    html.markup("<h1>Questions</h1>\n");
    if listed.approvals.is_empty() {
        html.markup("<p>Nothing waits for you.</p>\n");
        return ended(html);
    }
    html.markup("<ul class=\"questions\">\n");
    for approval in &listed.approvals {
        html.markup("<li><a href=\"/approvals/").text(&approval.approval_id).markup("\">");
        html.text(visible(&approval.tool_name)).markup(" ").text(visible(&approval.tool_version));
        html.markup("</a> <span class=\"faint\">").text(approval.effect).markup("</span><br>for ");
        html.text(visible(&approval.user)).markup(", asked by ").text(visible(&approval.agent));
        html.markup("<br><span class=\"faint\">open for ").text(left(approval, now)).markup("</span></li>\n");
    }
    html.markup("</ul>\n");
    if listed.more > 0 {
        html.markup("<p>And ").text(listed.more).markup(" more, when these are answered.</p>\n");
    }
    ended(html)
}

/// One question: everything that somebody needs to decide, and the form to do it.
pub(super) fn question(page: &Question<'_>, now: Timestamp) -> Html {
    let Shown { approval, run, before, source, may } = page.shown;
    let state = approval.state_at(now);
    let mut html = begun("Question", Some((page.person, page.end)));
    html.markup("<h1>").text(visible(&approval.tool_name)).markup(" ").text(visible(&approval.tool_version));
    html.markup(" is ").text(state.word()).markup("</h1>\n");
    said(&mut html, page.problem);
    // The text was made visible when the question was asked: it is shown as it is stored.
    html.markup("<pre>").text(&approval.shown_text).markup("</pre>\n");
    difference(&mut html, approval, before.as_ref());
    html.markup("<dl>\n");
    facts(&mut html, approval, source.as_deref(), now);
    html.markup("</dl>\n");
    match (state, may) {
        (ApprovalState::Pending, Ok(())) => form(&mut html, approval, page.seal),
        (ApprovalState::Pending, Err(why)) => {
            html.markup("<p class=\"next\">You cannot decide this: ").text(yours(*why)).markup(".</p>\n");
        }
        _ => {}
    }
    let asked = Approval { state, ..approval.clone() };
    if let Some(next) = next(&asked, run.start().kind) {
        html.markup("<p class=\"next\">").text(next).markup("</p>\n");
    }
    html.markup("<p><a href=\"/approvals\">All questions</a></p>\n");
    ended(html)
}

/// A page that only says something.
pub(super) fn message(status: StatusCode, text: &str) -> Html {
    let mut html = begun("Not done", None);
    html.markup("<h1>").text(status.canonical_reason().unwrap_or("Lockgate")).markup("</h1>\n<p>").text(text);
    html.markup("</p>\n<p><a href=\"/approvals\">All questions</a></p>\n");
    ended(html)
}

/// What happens next; nothing where there is nothing to say.
pub(super) fn next(approval: &Approval, kind: RunKind) -> Option<String> {
    let (run, expires) = (&approval.run_id, approval.expires_at);
    Some(match (approval.state, kind) {
        (ApprovalState::Pending, _) if approval.yeses.is_empty() => return None,
        (ApprovalState::Pending, _) => {
            let missing = approval.missing_yeses();
            let people = if missing == 1 { "one more person has" } else { "more people have" };
            format!("Nothing runs yet: {people} to say yes, before {expires}.")
        }
        (ApprovalState::Granted, RunKind::Agent) => format!(
            "The call may run once, before {expires}. It does when its run goes on: a worker takes {run} up, or `lockgate runs resume {run}` does."
        ),
        (ApprovalState::Granted, RunKind::Direct) => format!(
            "The call may run once, before {expires}. It does when whoever made it goes on, or sends it again with the same arguments."
        ),
        (ApprovalState::Denied, _) => "The call will not run. Whoever made it is told so when it goes on.".to_owned(),
        (ApprovalState::Expired, _) => {
            "It is too late: nobody decides this any more, and the call does not run.".to_owned()
        }
        (ApprovalState::Consumed, _) => "The call was begun with this approval, and no other call is.".to_owned(),
        (ApprovalState::Withdrawn, _) => "It was taken back: the call does not run.".to_owned(),
    })
}

fn form(html: &mut Html, approval: &Approval, seal: &str) {
    html.markup("<form method=\"post\" action=\"/approvals/").text(&approval.approval_id).markup("/deny\">\n");
    html.markup("<input type=\"hidden\" name=\"digest\" value=\"").text(approval.digest).markup("\">\n");
    html.markup("<input type=\"hidden\" name=\"seal\" value=\"").text(seal).markup("\">\n");
    html.markup("<label for=\"reason\">Why (may be left out)</label>\n<textarea id=\"reason\" name=\"reason\" rows=\"2\" maxlength=\"");
    html.text(MOST_REASON).markup("\"></textarea>\n<div class=\"answers\">\n<button class=\"no\">Deny</button>\n");
    // The form's own action denies: that is what a browser does which knows no `formaction`.
    html.markup("<button class=\"yes\" formaction=\"/approvals/").text(&approval.approval_id);
    html.markup("/approve\">Approve</button>\n</div>\n</form>\n");
}

fn facts(html: &mut Html, approval: &Approval, source: Option<&str>, now: Timestamp) {
    let mut fact = |name: &'static str, value: String| {
        html.markup("<dt>").markup(name).markup("</dt><dd>").text(value).markup("</dd>\n");
    };
    fact("tool", format!("{} {}", visible(&approval.tool_name), visible(&approval.tool_version)));
    if let Some(source) = source {
        fact("from", visible(source));
    }
    fact("effect", approval.effect.to_string());
    fact("asked for", format!("{} of tenant {}", visible(&approval.user), visible(&approval.tenant)));
    fact("asked by", format!("agent {}", visible(&approval.agent)));
    if let Some(because) = &approval.because {
        fact("because", visible(because));
    }
    if let Some(required) = &approval.approvers {
        fact("needs", needs(required));
    }
    for yes in &approval.yeses {
        let why = yes.reason.as_deref().map(|reason| format!(": {}", visible(reason))).unwrap_or_default();
        fact("yes", format!("{}, {}{why}", visible(&yes.by), yes.at));
    }
    if let Some(environment) = &approval.circumstances.environment {
        fact("environment", visible(environment));
    }
    for (name, digest) in &approval.circumstances.files {
        fact("file", format!("{}: {digest}", visible(name)));
    }
    fact("run", approval.run_id.to_string());
    fact("call", approval.call_id.to_string());
    fact("digest", approval.digest.to_string());
    fact("definition", approval.definition.to_string());
    fact("asked", approval.requested_at.to_string());
    let open = approval.state_at(now);
    let counts = matches!(open, ApprovalState::Pending | ApprovalState::Granted);
    fact(
        "expires",
        format!(
            "{}{}",
            approval.expires_at,
            if counts { format!(" (in {})", left(approval, now)) } else { String::new() }
        ),
    );
    if let Some(who) = &approval.decided_by {
        fact("decided by", visible(who));
    }
    if let Some(at) = approval.decided_at {
        fact("decided", at.to_string());
    }
    if let Some(reason) = &approval.reason {
        fact("reason", visible(reason));
    }
    if let Some(at) = approval.consumed_at {
        fact("used", at.to_string());
    }
}

/// What changed since a call of the tool was approved, or since before the edit.
fn difference(html: &mut Html, approval: &Approval, before: Option<&Approval>) {
    let Some(before) = before else { return };
    match &approval.edited {
        Some(edited) => {
            html.markup("<p>").text(visible(&edited.by)).markup(" put this in place of ").text(&edited.approval_id);
        }
        None => {
            html.markup("<p>Since ").text(&before.approval_id).markup(", the last one of this tool that was approved");
        }
    }
    html.markup(":</p>\n<pre>");
    let (old, new) = (shown_arguments(&before.arguments), shown_arguments(&approval.arguments));
    let mut is_same = true;
    for line in old.iter().filter(|line| !new.contains(line)) {
        html.markup("<del>- ").text(line).markup("</del>\n");
        is_same = false;
    }
    for line in new.iter().filter(|line| !old.contains(line)) {
        html.markup("<ins>+ ").text(line).markup("</ins>\n");
        is_same = false;
    }
    html.markup(if is_same { "the same arguments" } else { "" }).markup("</pre>\n");
}

/// Whose yes it takes.
fn needs(required: &Approvers) -> String {
    let roles: Vec<String> = required.roles.iter().map(|role| visible(role)).collect();
    let people = if required.needed() == 1 { "one person".to_owned() } else { format!("{} people", required.needed()) };
    let who = if roles.is_empty() { people } else { format!("{people} with role {}", roles.join(" or ")) };
    format!("the yes of {who}; not of whoever it is asked for")
}

/// How long it may still be decided, or used.
fn left(approval: &Approval, now: Timestamp) -> String {
    let left = approval.expires_at.since(now).as_secs();
    match (left / 3600, left / 60 % 60, left % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, minutes, _) => format!("{hours}h {minutes}m"),
    }
}

fn said(html: &mut Html, problem: Option<&str>) {
    if let Some(problem) = problem {
        html.markup("<p class=\"problem\" role=\"alert\">").text(problem).markup("</p>\n");
    }
}

/// The beginning of every page, with whoever is logged in.
fn begun(title: &'static str, person: Option<(&Person, &str)>) -> Html {
    let mut html = Html::default();
    html.markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>").markup(title);
    html.markup(" · Lockgate</title>\n<style>").markup(STYLE).markup("</style>\n</head>\n<body>\n");
    html.markup("<header><a href=\"/approvals\">Lockgate</a>");
    if let Some((person, end)) = person {
        html.markup("\n<form method=\"post\" action=\"/logout\"><span class=\"faint\">").text(visible(&person.name));
        html.markup(" of ").text(visible(&person.tenant)).markup("</span>");
        html.markup("<input type=\"hidden\" name=\"seal\" value=\"")
            .text(end)
            .markup("\"><button>Log out</button></form>");
    }
    html.markup("</header>\n<main>\n");
    html
}

fn ended(mut html: Html) -> Html {
    html.markup("</main>\n</body>\n</html>\n");
    html
}
