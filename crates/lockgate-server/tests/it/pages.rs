//! The approvals page, as a browser sees it.

use std::collections::BTreeMap;
use std::time::Duration;

use lockgate::contract::approval::{Approval, ApprovalState};
use lockgate::contract::ports::Decision;
use lockgate_server::tokens::{Token, TokenFile};
use regex::Regex;

use crate::browser::{Browser, filled};
use crate::web::Answer;
use crate::world::{World, agent, person};

const TWO: &str =
    "[approvals]\napprovers = { roles = [\"sre\"], count = 2 }\npeople = { bob = [\"sre\"], erin = [\"dba\"] }\n";

/// A page as it looks, with what differs each time in a fixed form.
fn fixed(answer: &Answer) -> String {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut text = Regex::new("<style>(?s:.*)</style>").unwrap().replace(&answer.body, "<style>…</style>").into_owned();
    for (pattern, name) in [
        (r"(apr|run)-[0-9a-f]{12,16}", "ID"),
        (r"sha256:[0-9a-f]{64}", "DIGEST"),
        (r#"name="seal" value="[A-Za-z0-9_-]+""#, "SEAL"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        (r"\b\d+m \d+s\b", "SPAN"),
    ] {
        text = Regex::new(pattern)
            .unwrap()
            .replace_all(&text, |found: &regex::Captures<'_>| match name {
                "TIME" | "SPAN" => name.to_owned(),
                _ => {
                    let next = names.len();
                    format!("[{name} {}]", names.entry(found[0].to_owned()).or_insert(next))
                }
            })
            .into_owned();
    }
    format!("{}\n{text}", answer.status)
}

fn page_of(approval: &Approval) -> String {
    format!("/approvals/{}", approval.approval_id)
}

#[tokio::test]
async fn shown_and_approved() {
    let world = World::with_tokens("[gate]\nenvironment = \"staging\"\n").await;
    let approval = world.asked("auth-api is slow").await;
    let mut browser = Browser::of(&world, &world.token(person("bob-phone", "bob"))).await;
    insta::assert_snapshot!("list", fixed(&browser.get("/approvals").await));
    let page = browser.get(&page_of(&approval)).await;
    insta::assert_snapshot!("question", fixed(&page));
    let approve = format!("{}/approve", page_of(&approval));
    let body = filled(&page, &format!("{}/deny", page_of(&approval)), &[("reason", "it is slow")]);
    let done = browser.post(&approve, &body).await;
    assert_eq!((done.status, done.header("location")), (303, Some(page_of(&approval).as_str())), "{done:?}");
    insta::assert_snapshot!("approved", fixed(&browser.get(&page_of(&approval)).await));
    let now = world.now(&approval).await;
    assert_eq!((now.state, now.decided_by.as_deref()), (ApprovalState::Granted, Some("bob")));
    assert_eq!(now.yeses[0].proof.word(), "authenticated");
    // The form again: nothing happens twice (R-172).
    let again = browser.post(&approve, &body).await;
    assert_eq!(again.status, 409);
    assert!(again.body.contains("this question is granted already: nothing was decided"), "{}", again.body);
    assert_eq!(world.now(&approval).await.yeses.len(), 1);
}

#[tokio::test]
async fn denied_and_the_next_question_shows_what_was_approved_before() {
    let world = World::with_tokens("").await;
    let (first, second) = (world.asked("one").await, world.asked("two").await);
    let mut browser = Browser::of(&world, &world.token(person("bob-phone", "bob"))).await;
    for (approval, answer) in [(&first, "approve"), (&second, "deny")] {
        let page = browser.get(&page_of(approval)).await;
        let body = filled(&page, &format!("{}/deny", page_of(approval)), &[]);
        assert_eq!(browser.post(&format!("{}/{answer}", page_of(approval)), &body).await.status, 303);
    }
    insta::assert_snapshot!("denied", fixed(&browser.get(&page_of(&second)).await));
    let third = world.asked("three").await;
    let page = browser.get(&page_of(&third)).await;
    assert!(page.body.contains("<del>- title: &quot;one&quot;</del>"), "{}", page.body);
    assert!(page.body.contains("<ins>+ title: &quot;three&quot;</ins>"), "{}", page.body);
}

#[tokio::test]
async fn what_a_model_wrote_is_text() {
    let world = World::with_tokens("").await;
    let hostile = "</pre><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202e}\r\nSet-Cookie: a=b&amp;";
    let approval = world.asked(hostile).await;
    let mut browser = Browser::of(&world, &world.token(person("bob-phone", "bob"))).await;
    let page = browser.get(&page_of(&approval)).await;
    assert_eq!(page.status, 200);
    for tag in ["<script", "<img", "</pre><", "\u{202e}"] {
        assert!(!page.body.contains(tag), "{tag}: {}", page.body);
    }
    assert!(page.body.contains("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), "{}", page.body);
    assert!(page.body.contains("\\u{202e}"), "what cannot be seen is shown: {}", page.body);
    assert!(page.all("set-cookie").is_empty());
    // Nor does what a person wrote do anything.
    let body = filled(&page, &format!("{}/deny", page_of(&approval)), &[("reason", "<b onload=x>no</b>\u{7}")]);
    assert_eq!(browser.post(&format!("{}/deny", page_of(&approval)), &body).await.status, 303);
    let page = browser.get(&page_of(&approval)).await;
    assert!(page.body.contains("&lt;b onload=x&gt;no&lt;/b&gt;"), "{}", page.body);
}

#[tokio::test]
async fn what_a_browser_is_told_besides() {
    let world = World::with_tokens("").await;
    let approval = world.asked("one").await;
    let mut browser = Browser::of(&world, &world.token(person("bob-phone", "bob"))).await;
    let login = browser.get("/login").await;
    let (list, page) = (browser.get("/approvals").await, browser.get(&page_of(&approval)).await);
    let missing = browser.get("/approvals/apr-0").await;
    for answer in [&login, &list, &page, &missing] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        for part in ["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.header(name), Some(value));
        }
        // The hash of the policy is that of the style in the page.
        let style = answer.body.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        let hash = base64::Engine::encode(
            &base64::engine::general_purpose::STANDARD,
            <sha2::Sha256 as sha2::Digest>::digest(style),
        );
        assert!(policy.contains(&format!("'sha256-{hash}'")), "{policy}");
        assert!(!answer.body.contains("<script") && !answer.body.contains("style=\""), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_form_is_of_one_session_one_question_and_what_it_showed() {
    let world = World::with_tokens("").await;
    let (one, two) = (world.asked("one").await, world.asked("two").await);
    let token = world.token(person("bob-phone", "bob"));
    let mut browser = Browser::of(&world, &token).await;
    let (of_one, of_two) = (browser.get(&page_of(&one)).await, browser.get(&page_of(&two)).await);
    let (approve, deny) = (format!("{}/approve", page_of(&one)), format!("{}/deny", page_of(&one)));
    let form = filled(&of_one, &deny, &[]);
    let form_of_two = filled(&of_two, &format!("{}/deny", page_of(&two)), &[]);
    let field = |form: &str, name: &str| form.split('&').find(|pair| pair.starts_with(name)).unwrap().to_owned();
    let mixed = [
        String::new(),
        field(&form, "digest"),
        field(&form, "seal"),
        form_of_two.clone(),
        format!("{}&{}", field(&form, "digest"), field(&form_of_two, "seal")),
        format!("{}&{}", field(&form_of_two, "digest"), field(&form, "seal")),
        format!("{}&seal=AAAA", field(&form, "digest")),
    ];
    for wrong in &mixed {
        let answer = browser.post(&approve, wrong).await;
        assert_eq!(answer.status, 403, "{wrong}: {answer:?}");
        assert!(answer.body.contains("this form is not of your session: nothing was decided"), "{}", answer.body);
    }
    // Another session of the same person has forms of its own.
    let mut other = Browser::of(&world, &token).await;
    assert_eq!(other.post(&approve, &form).await.status, 403);
    // Another site's form, and what is no form.
    let site = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "cross-site")];
    assert_eq!(browser.send("POST", &approve, &site, &form).await.status, 403);
    assert_eq!(browser.send("POST", &approve, &[("content-type", "text/plain")], &form).await.status, 415);
    assert_eq!(browser.send("GET", &approve, &[], "").await.status, 405);
    assert_eq!(browser.post(&approve, &"x".repeat(70_000)).await.status, 413);
    let long = format!("{form}&reason={}", "a".repeat(1001));
    assert_eq!(browser.post(&approve, &long).await.status, 400);
    assert_eq!(world.now(&one).await.state, ApprovalState::Pending);
    // The form that was shown does what it says.
    assert_eq!(browser.post(&approve, &form).await.status, 303);
    // Once somebody is logged out, their forms are nobody's.
    let list = browser.get("/approvals").await;
    let cookie = browser.cookies["lockgate_session"].clone();
    assert_eq!(browser.submit(&list, "/logout", &[]).await.status, 303);
    browser.cookies.insert("lockgate_session".to_owned(), cookie);
    let gone = browser.post(&format!("{}/approve", page_of(&two)), &form_of_two).await;
    assert_eq!(gone.header("location"), Some(format!("/login?next={}", page_of(&two)).as_str()));
    assert_eq!(world.now(&two).await.state, ApprovalState::Pending);
}

#[tokio::test]
async fn a_login_makes_a_new_session_and_takes_no_other() {
    let world = World::with_tokens("").await;
    let token = world.token(person("bob-phone", "bob"));
    let mut browser = Browser::new(&world);
    // A cookie that somebody else planted is not the one of the session.
    browser.cookies.insert("lockgate_session".to_owned(), "planted".to_owned());
    let form = browser.get("/login").await;
    let nonce = browser.cookies["lockgate_login"].clone();
    let done = browser.submit(&form, "/login", &[("token", &token)]).await;
    assert_eq!(done.status, 303);
    let cookie =
        done.all("set-cookie").into_iter().find(|cookie| cookie.starts_with("lockgate_session=")).unwrap().to_owned();
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=28800"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(&token) && !cookie.contains("Secure"));
    let first = browser.cookies["lockgate_session"].clone();
    assert_ne!(first, "planted");
    assert!(!browser.cookies.contains_key("lockgate_login"));
    // Logging in again ends the session before.
    let form = browser.get("/login").await;
    assert_eq!(browser.submit(&form, "/login", &[("token", &token)]).await.status, 303);
    assert_ne!(browser.cookies["lockgate_session"], first);
    let mut old = Browser::new(&world);
    old.cookies.insert("lockgate_session".to_owned(), first);
    assert_eq!(old.get("/approvals").await.status, 303);
    // Two cookies of the name are none.
    let both = format!("lockgate_session={}; lockgate_session=planted", browser.cookies["lockgate_session"]);
    assert_eq!(world.get("/approvals", &[("cookie", &both)]).await.status, 303);
    // The form of a login is of one browser, and not for ever.
    let mut victim = Browser::new(&world);
    let form = victim.get("/login").await;
    victim.cookies.insert("lockgate_login".to_owned(), nonce);
    assert_eq!(victim.submit(&form, "/login", &[("token", &token)]).await.status, 403);
    let form = victim.get("/login").await;
    world.clock.forward(Duration::from_secs(1801));
    assert_eq!(victim.submit(&form, "/login", &[("token", &token)]).await.status, 403);
}

#[tokio::test]
async fn nobody_logs_in_who_does_not_decide() {
    let world = World::with_tokens("").await;
    let agents = world.token(agent("ci"));
    for (token, status, words) in [
        (agents.as_str(), 403, "this credential calls: it decides nothing"),
        ("lgt_ci_wrong", 401, "this credential is not good here"),
        ("", 401, "this credential is not good here"),
        ("two words", 401, "this credential is not good here"),
    ] {
        let mut browser = Browser::new(&world);
        let form = browser.get("/login").await;
        let answer = browser.submit(&form, "/login", &[("token", token)]).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(answer.body.contains(words), "{}", answer.body);
        assert!(!browser.cookies.contains_key("lockgate_session"));
        assert!(token.is_empty() || !answer.body.contains(token), "the token is not said again");
    }
    insta::assert_snapshot!("login", fixed(&world.get("/login?next=/approvals/apr-1", &[]).await));
}

#[tokio::test]
async fn a_login_leads_nowhere_else() {
    let world = World::with_tokens("").await;
    let token = world.token(person("bob-phone", "bob"));
    for (next, leads) in [
        ("/approvals/apr-0123456789abcdef", "/approvals/apr-0123456789abcdef"),
        ("//evil.example.com", "/approvals"),
        ("https://evil.example.com/approvals", "/approvals"),
        ("/approvals/../login", "/approvals"),
        ("/approvals/x\r\nset-cookie: a=b", "/approvals"),
        ("/approvals/%0d%0a", "/approvals"),
        ("\\\\evil", "/approvals"),
    ] {
        let mut browser = Browser::new(&world);
        let form = browser.get("/login").await;
        let done = browser.submit(&form, "/login", &[("token", &token), ("next", next)]).await;
        assert_eq!((done.status, done.header("location")), (303, Some(leads)), "{next}");
    }
    let asked = world.get("/approvals/apr-0123456789abcdef", &[]).await;
    assert_eq!(asked.header("location"), Some("/login?next=/approvals/apr-0123456789abcdef"));
    let asked = world.get("/approvals/%0d%0aset-cookie:a=b", &[]).await;
    assert_eq!((asked.header("location"), asked.all("set-cookie").len()), (Some("/login?next=/approvals"), 0));
}

#[tokio::test]
async fn a_session_ends() {
    let world = World::with_tokens("").await;
    let approval = world.asked("one").await;
    let token = world.token(Token { roles: ["sre".to_owned()].into(), ..person("bob-phone", "bob") });
    let mut browser = Browser::of(&world, &token).await;
    assert_eq!(browser.get("/approvals").await.status, 200);
    // With its token, from the next request on.
    TokenFile::remove(&world.path("tokens.toml"), "bob-phone").unwrap();
    assert_eq!(browser.get(&page_of(&approval)).await.status, 303);
    // With another token of the same id: it is another's.
    let token = world.token(person("bob-phone", "bob"));
    assert_eq!(browser.get("/approvals").await.status, 303);
    // With its time.
    let mut browser = Browser::of(&world, &token).await;
    world.clock.forward(Duration::from_hours(8));
    assert_eq!(browser.get("/approvals").await.status, 303);
}

#[tokio::test]
async fn several_people_decide_as_on_the_command_line() {
    let world = World::with_tokens(TWO).await;
    let approval = world.asked("one").await;
    let sre = || ["sre".to_owned()].into();
    // Bob's role stands in the run's own file, dave's in the file of tokens; erin has another, alice is asked for.
    let bob = world.token(person("bob", "bob"));
    let dave = world.token(Token { roles: sre(), ..person("dave", "dave") });
    let erin = world.token(person("erin", "erin"));
    let alice = world.token(Token { roles: sre(), ..person("alice", "alice") });
    let watcher = world.token(Token { roles: sre(), ..person("watch", "Night-Watch") });
    let approve = format!("{}/approve", page_of(&approval));
    let deny = format!("{}/deny", page_of(&approval));

    let mut browser = Browser::of(&world, &erin).await;
    let hidden = browser.get(&page_of(&approval)).await;
    assert_eq!(hidden.status, 404);
    assert!(browser.get("/approvals").await.body.contains("Nothing waits for you."));
    let mut browser = Browser::of(&world, &watcher).await;
    assert_eq!(browser.get(&page_of(&approval)).await.status, 404, "an agent's name is nobody's who decides");
    let mut browser = Browser::of(&world, &alice).await;
    let page = browser.get(&page_of(&approval)).await;
    assert!(page.body.contains("it is asked on your own behalf, and another person has to decide"), "{}", page.body);
    assert!(!page.body.contains("formaction"), "{}", page.body);

    let mut browser = Browser::of(&world, &bob).await;
    let form = filled(&browser.get(&page_of(&approval)).await, &deny, &[("reason", "fine")]);
    assert_eq!(browser.post(&approve, &form).await.status, 303);
    let page = browser.get(&page_of(&approval)).await;
    insta::assert_snapshot!("one_of_two", fixed(&page));
    let twice = browser.post(&approve, &form).await;
    assert_eq!(twice.status, 403);
    assert!(twice.body.contains("you said yes already, and another person has to"), "{}", twice.body);
    assert_eq!(world.now(&approval).await.state, ApprovalState::Pending);

    let mut browser = Browser::of(&world, &dave).await;
    let form = filled(&browser.get(&page_of(&approval)).await, &deny, &[]);
    assert_eq!(browser.post(&approve, &form).await.status, 303);
    let now = world.now(&approval).await;
    assert_eq!((now.state, now.yeses.len()), (ApprovalState::Granted, 2));
    assert_eq!(
        (now.yeses[0].roles.as_slice(), now.yeses[1].roles.as_slice()),
        (&["sre".to_owned()][..], &["sre".to_owned()][..])
    );
}

#[tokio::test]
async fn what_is_not_yours_is_not_there() {
    let world = World::with_tokens("").await;
    let approval = world.asked("one").await;
    let stranger = world.token(Token { tenant: "other".to_owned(), ..person("zoe", "zoe") });
    let mut browser = Browser::of(&world, &stranger).await;
    let others = browser.get(&page_of(&approval)).await;
    let nobodys = browser.get("/approvals/apr-ffffffffffffffff").await;
    let odd = browser.get("/approvals/x/y/z").await;
    assert_eq!((others.status, nobodys.status, odd.status), (404, 404, 404));
    assert_eq!((&others.body, &odd.body), (&nobodys.body, &nobodys.body));
    insta::assert_snapshot!("not_yours", fixed(&others));
    for answer in ["approve", "deny"] {
        let answered = browser.post(&format!("{}/{answer}", page_of(&approval)), "digest=x&seal=y").await;
        assert_eq!((answered.status, &answered.body), (404, &nobodys.body));
    }
    assert!(browser.get("/approvals").await.body.contains("Nothing waits for you."));
}

#[tokio::test]
async fn too_late_and_decided_elsewhere() {
    let world = World::with_tokens("[approvals]\nexpires = \"10m\"\n").await;
    let approval = world.asked("one").await;
    let other = world.asked("two").await;
    let mut browser = Browser::of(&world, &world.token(person("bob-phone", "bob"))).await;
    let deny = format!("{}/deny", page_of(&other));
    let form = filled(&browser.get(&page_of(&other)).await, &deny, &[]);
    // Somebody else was faster, at a terminal.
    let decision = Decision::new(other.approval_id.clone(), ApprovalState::Withdrawn, "alice");
    world.assembly.gate.decide(decision).await.unwrap();
    let late = browser.post(&deny, &form).await;
    assert_eq!(late.status, 409);
    assert!(late.body.contains("this question is withdrawn already: nothing was decided"), "{}", late.body);
    world.clock.forward(Duration::from_secs(601));
    insta::assert_snapshot!("expired", fixed(&browser.get(&page_of(&approval)).await));
    assert!(browser.get("/approvals").await.body.contains("Nothing waits for you."));
}

#[tokio::test]
async fn over_https_cookies_are_sent_over_nothing_else() {
    let world = World::with("tokens_file = \"tokens.toml\"", "", |_| {}, true).await;
    let token = world.token(person("bob-phone", "bob"));
    let mut browser = Browser::new(&world);
    let form = browser.get("/login").await;
    let done = browser.submit(&form, "/login", &[("token", &token)]).await;
    let cookie = done.all("set-cookie")[0].to_owned();
    assert!(cookie.starts_with("__Host-lockgate_session=") && cookie.ends_with("; Secure"), "{cookie}");
    assert_eq!(browser.get("/approvals").await.status, 200);
    browser.cookies = browser.cookies.into_iter().map(|(name, value)| (name.replace("__Host-", ""), value)).collect();
    assert_eq!(browser.get("/approvals").await.status, 303, "a cookie that a neighbour could plant is none");
}
