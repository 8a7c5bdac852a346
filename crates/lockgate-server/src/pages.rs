//! The page on which people answer questions: `/approvals`, `/approvals/<id>`, `/login`, `/logout`.
//!
//! It works without a script. What was shown is what is decided: a form is bound to its session, its question and the digest that
//! it showed. A decision takes the way of `lockgate approvals` ([`lockgate::deciding`]).

mod answer;
mod desk;
mod html;
mod session;
mod template;

use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderName, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use lockgate::contract::approval::{Approval, ApprovalState};
use lockgate::contract::digest::Digest;
use lockgate::contract::ids::ApprovalId;
use lockgate::contract::ports::{Clock, Journal};
use lockgate::registry::Registry;
use serde::Deserialize;
use serde_json::json;

use self::answer::{NO_SUCH, json_answer, method_not_allowed, page, see_other};
use self::desk::{Desk, Problem, Shown};
use self::session::{Cookies, Session, Sessions};
use crate::auth::{Authenticator, Caller, Person, Why};
use crate::form::Form;

/// The longest body that is read of a request for a page.
pub const MOST_BODY_BYTES: usize = 64 << 10;

/// The longest reason, in characters.
const MOST_REASON: usize = 1000;

/// How pages are shown.
#[derive(Debug, Clone, Copy)]
pub struct PagesOptions {
    /// Whether the journal signs what is decided through it.
    pub signs: bool,
    /// Whether browsers reach the page over https: its cookies are then sent over nothing else.
    pub https: bool,
    /// How long a person stays logged in.
    pub session: Duration,
}

/// The tools as they are now: a file that changed may have others.
pub type CurrentRegistry = Arc<dyn Fn() -> Arc<Registry> + Send + Sync>;

/// The pages, and who is logged in to them.
pub struct Pages {
    auth: Arc<Authenticator>,
    desk: Desk,
    sessions: Sessions,
    cookies: Cookies,
}

/// Whoever asks for a page.
enum Visitor {
    /// A browser, of somebody who logged in.
    Browser(Session),
    /// A program, with its credential in the request.
    Program(Caller),
}

/// What a program says to a question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    digest: Digest,
    #[serde(default)]
    reason: Option<String>,
}

impl Pages {
    /// Pages over a journal's questions. `registry` is asked each time where a tool comes from.
    pub fn new(
        auth: Arc<Authenticator>,
        journal: Arc<dyn Journal>,
        registry: CurrentRegistry,
        clock: Arc<dyn Clock>,
        options: PagesOptions,
    ) -> Self {
        let sessions = Sessions::new(Arc::clone(&clock), options.session);
        Self {
            auth,
            desk: Desk { journal, registry, clock, signs: options.signs },
            sessions,
            cookies: Cookies { https: options.https },
        }
    }

    /// Whether a path is one of these pages.
    pub fn has(path: &str) -> bool {
        matches!(path, "/login" | "/logout" | "/approvals") || path.starts_with("/approvals/")
    }

    /// Answers a request for one of them. The body is whole; of a request without one it is empty.
    pub async fn answer(&self, request: &Parts, body: &[u8]) -> Response<String> {
        let path = request.uri.path();
        let is_get = request.method == Method::GET || request.method == Method::HEAD;
        let is_post = request.method == Method::POST;
        if body.len() > MOST_BODY_BYTES {
            return problem_answer(request, &Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "this is too long"));
        }
        if crate::auth::has_token_in_url(request) {
            return problem_answer(request, &Problem::refused(&self.auth.refusal(Why::InQuery)));
        }
        if is_post && comes_from_elsewhere(request) {
            let text = "another site sent this form: nothing was done";
            return problem_answer(request, &Problem::new(StatusCode::FORBIDDEN, text));
        }
        let answered = match (path, path.strip_prefix("/approvals/").map(|rest| rest.split('/').collect::<Vec<_>>())) {
            ("/login", _) if is_get => return self.login_form(request, None),
            ("/login", _) if is_post => return self.log_in(request, body).await,
            ("/logout", _) if is_post => self.log_out(request, body),
            ("/approvals", _) if is_get => self.list(request).await,
            (_, Some(parts)) => match parts[..] {
                [id] if is_get => self.show(request, &ApprovalId::new(id)).await,
                [id, "approve"] if is_post => self.decide(request, body, id, ApprovalState::Granted).await,
                [id, "deny"] if is_post => self.decide(request, body, id, ApprovalState::Denied).await,
                [_] => return method_not_allowed("GET"),
                [_, _] => return method_not_allowed("POST"),
                _ => Err(Problem::new(StatusCode::NOT_FOUND, NO_SUCH)),
            },
            ("/login", _) => return method_not_allowed("GET, POST"),
            ("/logout", _) => return method_not_allowed("POST"),
            ("/approvals", _) => return method_not_allowed("GET"),
            _ => Err(Problem::new(StatusCode::NOT_FOUND, NO_SUCH)),
        };
        answered.unwrap_or_else(|problem| problem_answer(request, &problem))
    }

    async fn list(&self, request: &Parts) -> Result<Response<String>, Problem> {
        let Some(visitor) = self.visitor(request).await? else { return Ok(to_login(request)) };
        let listed = self.desk.open(&visitor.caller()).await?;
        Ok(match &visitor {
            Visitor::Program(_) => {
                json_answer(StatusCode::OK, &json!({ "approvals": listed.approvals, "more": listed.more }))
            }
            Visitor::Browser(session) => {
                let end = session.seal(template::LOG_OUT, "");
                page(StatusCode::OK, &template::list(&listed, &session.person, &end, self.desk.clock.now()))
            }
        })
    }

    async fn show(&self, request: &Parts, id: &ApprovalId) -> Result<Response<String>, Problem> {
        let Some(visitor) = self.visitor(request).await? else { return Ok(to_login(request)) };
        let shown = self.desk.shown(&visitor.caller(), id).await?;
        Ok(match &visitor {
            Visitor::Program(_) => json_answer(StatusCode::OK, &shown.approval),
            Visitor::Browser(session) => self.question(StatusCode::OK, &shown, session, None),
        })
    }

    /// The page of one question.
    fn question(
        &self,
        status: StatusCode,
        shown: &Shown,
        session: &Session,
        problem: Option<&str>,
    ) -> Response<String> {
        let approval = &shown.approval;
        let seal = session.seal(approval.approval_id.as_str(), &approval.digest.to_string());
        let end = session.seal(template::LOG_OUT, "");
        let page_of = template::Question { shown, person: &session.person, seal: &seal, end: &end, problem };
        page(status, &template::question(&page_of, self.desk.clock.now()))
    }

    async fn decide(
        &self,
        request: &Parts,
        body: &[u8],
        id: &str,
        answer: ApprovalState,
    ) -> Result<Response<String>, Problem> {
        let Some(visitor) = self.visitor(request).await? else { return Ok(to_login(request)) };
        let id = ApprovalId::new(id);
        let caller = visitor.caller();
        let Caller::Person(person) = &caller else {
            return Err(Problem::refused(&self.auth.refusal(Why::Agent)));
        };
        let shown = self.desk.shown(&caller, &id).await?;
        match &visitor {
            Visitor::Program(_) => {
                let Said { digest, reason } = said(request, body)?;
                let approval = self.decided(person, &shown.approval, answer, digest, reason).await?;
                let next = template::next(&approval, shown.run.start().kind);
                Ok(json_answer(StatusCode::OK, &json!({ "approval": approval, "next": next })))
            }
            Visitor::Browser(session) => {
                let form = form(request, body)?;
                let digest = form.get("digest").unwrap_or_default();
                // The seal is over what the form showed, so that no other form's opens this question.
                if !form.get("seal").is_some_and(|seal| session.sealed(id.as_str(), digest, seal)) {
                    return Err(Problem::new(
                        StatusCode::FORBIDDEN,
                        "this form is not of your session: nothing was decided",
                    ));
                }
                let digest: Digest = digest.parse().map_err(|_| Problem::malformed())?;
                let reason = form.get("reason").map(str::to_owned);
                match self.decided(person, &shown.approval, answer, digest, reason).await {
                    Ok(_) => Ok(see_other(&format!("/approvals/{id}"), None)),
                    Err(problem) if problem.is_of_the_question() => {
                        // What it is by now stands beside why nothing was decided.
                        let shown = self.desk.shown(&caller, &id).await?;
                        Ok(self.question(problem.status, &shown, session, Some(&problem.text)))
                    }
                    Err(problem) => Err(problem),
                }
            }
        }
    }

    async fn decided(
        &self,
        person: &Person,
        approval: &Approval,
        answer: ApprovalState,
        digest: Digest,
        reason: Option<String>,
    ) -> Result<Approval, Problem> {
        let reason = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        if reason.as_ref().is_some_and(|reason| reason.chars().count() > MOST_REASON) {
            let text = format!("the reason is longer than {MOST_REASON} characters: nothing was decided");
            return Err(Problem::new(StatusCode::BAD_REQUEST, text));
        }
        self.desk.decide(person, approval, answer, digest, reason).await
    }

    /// Whose browser sent a request, where somebody is logged in there.
    pub fn person(&self, request: &Parts) -> Option<Person> {
        let session = self.cookies.session(request).and_then(|cookie| self.sessions.find(cookie))?;
        if !self.auth.still_knows(&session.person) {
            self.sessions.end(&session);
            return None;
        }
        Some(session.person)
    }

    /// Whoever asks; nothing where a browser has to log in first.
    async fn visitor(&self, request: &Parts) -> Result<Option<Visitor>, Problem> {
        // A request that brings a credential is whoever's that is, and nobody else's.
        if request.headers.contains_key(AUTHORIZATION) || wants_json(request) {
            return match self.auth.caller(request).await {
                Ok(caller) => Ok(Some(Visitor::Program(caller))),
                Err(refusal) => Err(Problem::refused(&refusal)),
            };
        }
        let session = self.cookies.session(request).and_then(|cookie| self.sessions.find(cookie));
        let Some(session) = session else { return Ok(None) };
        if !self.auth.still_knows(&session.person) {
            self.sessions.end(&session);
            return Ok(None);
        }
        Ok(Some(Visitor::Browser(session)))
    }

    fn login_form(&self, request: &Parts, problem: Option<(StatusCode, &str)>) -> Response<String> {
        let next = next_of(request).to_owned();
        let (status, text) = problem.map_or((StatusCode::OK, None), |(status, text)| (status, Some(text)));
        match self.sessions.begin_login() {
            Ok((nonce, seal)) => {
                let mut answer = page(status, &template::login(&next, &seal, text));
                answer::set_cookie(&mut answer, &self.cookies.login(&nonce));
                answer
            }
            Err(error) => {
                tracing::error!(%error, "nobody can log in");
                problem_answer(request, &Problem::unavailable())
            }
        }
    }

    async fn log_in(&self, request: &Parts, body: &[u8]) -> Response<String> {
        let form = match form(request, body) {
            Ok(form) => form,
            Err(problem) => return problem_answer(request, &problem),
        };
        let nonce = self.cookies.nonce(request);
        let is_ours = form.get("seal").zip(nonce).is_some_and(|(seal, nonce)| self.sessions.is_login(nonce, seal));
        if !is_ours {
            let text = "this form is too old, or of another site: try it again";
            return self.login_form(request, Some((StatusCode::FORBIDDEN, text)));
        }
        let token = form.get("token").filter(|token| crate::auth::is_token(token)).unwrap_or("-");
        let person = match self.auth.person(token).await {
            Ok(person) => person,
            Err(refusal) => return self.login_form(request, Some((refusal.status(), refusal.words()))),
        };
        // A session is never one that the browser brought: whoever planted its cookie would be logged in, too.
        if let Some(old) = self.cookies.session(request).and_then(|cookie| self.sessions.find(cookie)) {
            self.sessions.end(&old);
        }
        match self.sessions.begin(person) {
            Ok(cookie) => {
                let mut answer =
                    see_other(local(form.get("next")), Some(&self.cookies.begun(&cookie, self.sessions.lasts())));
                answer::set_cookie(&mut answer, &self.cookies.login_over());
                answer
            }
            Err(error) => {
                tracing::error!(%error, "nobody can log in");
                problem_answer(request, &Problem::unavailable())
            }
        }
    }

    fn log_out(&self, request: &Parts, body: &[u8]) -> Result<Response<String>, Problem> {
        let session = self.cookies.session(request).and_then(|cookie| self.sessions.find(cookie));
        if let Some(session) = session {
            let form = form(request, body)?;
            if !form.get("seal").is_some_and(|seal| session.sealed(template::LOG_OUT, "", seal)) {
                return Err(Problem::new(StatusCode::FORBIDDEN, "this form is not of your session"));
            }
            self.sessions.end(&session);
        }
        Ok(see_other("/login", Some(&self.cookies.over())))
    }
}

impl Visitor {
    fn caller(&self) -> Caller {
        match self {
            Self::Browser(session) => Caller::Person(session.person.clone()),
            Self::Program(caller) => caller.clone(),
        }
    }
}

/// Why there is no page, as whoever asks can read it.
fn problem_answer(request: &Parts, problem: &Problem) -> Response<String> {
    let mut answer = if request.headers.contains_key(AUTHORIZATION) || wants_json(request) {
        json_answer(problem.status, &json!({ "error": problem.text }))
    } else {
        page(problem.status, &template::message(problem.status, &problem.text))
    };
    if let Some(challenge) = &problem.challenge {
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge.clone());
    }
    answer
}

fn form(request: &Parts, body: &[u8]) -> Result<Form, Problem> {
    if !has_type(request, "application/x-www-form-urlencoded") {
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "this is no form"));
    }
    Form::parse(body).ok_or_else(Problem::malformed)
}

fn said(request: &Parts, body: &[u8]) -> Result<Said, Problem> {
    if !has_type(request, "application/json") {
        let text = "send `{\"digest\": …, \"reason\": …}` as `application/json`";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    serde_json::from_slice(body).map_err(|_| {
        let text = "the body is `{\"digest\": …}` with the digest that was shown, and a `reason` where there is one";
        Problem::new(StatusCode::BAD_REQUEST, text)
    })
}

fn has_type(request: &Parts, wanted: &str) -> bool {
    let said = request.headers.get(CONTENT_TYPE).and_then(|said| said.to_str().ok()).unwrap_or_default();
    said.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}

fn wants_json(request: &Parts) -> bool {
    let said = request.headers.get(ACCEPT).and_then(|said| said.to_str().ok()).unwrap_or_default();
    said.split(',').any(|one| one.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json"))
}

/// Whether a browser says that another site made it send this. The browsers that do not say so do not send the cookies either.
fn comes_from_elsewhere(request: &Parts) -> bool {
    let said = request.headers.get(HeaderName::from_static("sec-fetch-site"));
    said.is_some_and(|said| said != "same-origin" && said != "none")
}

/// To the page of the login, and back from there.
fn to_login(request: &Parts) -> Response<String> {
    let path = request.uri.path();
    // What a form was to decide is shown again first.
    let path = path.strip_suffix("/approve").or_else(|| path.strip_suffix("/deny")).unwrap_or(path);
    see_other(&format!("/login?next={}", local(Some(path))), None)
}

/// Where a login leads.
fn next_of(request: &Parts) -> &str {
    let query = request.uri.query().unwrap_or_default();
    local(query.split('&').find_map(|pair| pair.strip_prefix("next=")))
}

/// One of these pages: nobody is led elsewhere.
fn local(path: Option<&str>) -> &str {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_ours = |path: &&str| {
        let id = path.strip_prefix("/approvals/");
        *path == "/approvals" || id.is_some_and(|id| (1..=64).contains(&id.len()) && id.bytes().all(is_plain))
    };
    path.filter(is_ours).unwrap_or("/approvals")
}

/// What a header of a request says, where it is there once.
fn cookies(request: &Parts) -> impl Iterator<Item = (&str, &str)> {
    let headers = request.headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
    headers.flat_map(|header| header.split(';')).filter_map(|pair| pair.trim().split_once('='))
}
