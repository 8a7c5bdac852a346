//! Calls that a decision point decides.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::command::{Desk, Done};

/// A server that answers what `says` holds, and keeps what it was asked.
struct Server {
    url: String,
    says: Arc<Mutex<String>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/data/lockgate/decision", listener.local_addr().unwrap());
        let (says, asked) = (Arc::<Mutex<String>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (answer, seen) = (Arc::clone(&says), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, mut text, mut chunk) = (stream.unwrap(), String::new(), [0; 4096]);
                let is_whole = |text: &str| {
                    text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                        let length = |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok();
                        body.len() >= head.lines().find_map(length).unwrap_or(0_usize)
                    })
                };
                while !is_whole(&text) {
                    let count = stream.read(&mut chunk).unwrap();
                    text += &String::from_utf8_lossy(&chunk[..count]);
                }
                seen.lock().unwrap().push(text);
                let body = answer.lock().unwrap().clone();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            }
        });
        Self { url, says, asked }
    }

    fn says(&self, body: &str) {
        body.clone_into(&mut self.says.lock().unwrap());
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn desk(policy: &str) -> Desk {
    let desk = Desk::empty();
    let tool = "[[tools.mock]]\nname = \"pay\"\ndescription = \"Pays.\"\ncount_file = \"paid\"\npermission = \"allow\"\n\
        input_schema = { type = \"object\", properties = { amount = { type = \"integer\" } } }\n\
        behaviour = [{ returns = { paid = true } }]\n";
    let denied = tool.replace("\"pay\"", "\"burn\"").replace("\"allow\"", "\"deny\"");
    desk.write("run.toml", &format!("[policy]\nengine = \"http\"\n{policy}\n{tool}\n{denied}"));
    desk
}

fn call(desk: &Desk, tool: &str) -> Done {
    let mut command = desk.command(&["call", "run.toml", tool, "{\"amount\":7}", "--audit"]);
    command.env("OPA_TOKEN", "a-token-for-the-decision-point");
    Done::of(&[], &command.output().unwrap())
}

fn code(done: &Done) -> String {
    done.json()["error"]["code"].as_str().unwrap_or("ok").to_owned()
}

#[test]
fn its_answers_decide_calls() {
    let server = Server::start();
    let desk = desk(&format!("url = \"{}?pretty=true\"\ntoken_env = \"OPA_TOKEN\"", server.url));
    for (says, expected, ran) in [
        (r#"{"result":true}"#, "ok", 1),
        (
            r#"{"result":{"decision":"ask","policies":["large"],"reason":"a-token-for-the-decision-point"}}"#,
            "approval_required",
            1,
        ),
        (r#"{"result":{"allow":false,"policies":["no"]}}"#, "policy_denied", 1),
        ("{}", "policy_denied", 1),
    ] {
        server.says(says);
        let done = call(&desk, "pay");
        assert_eq!((code(&done).as_str(), desk.entered("paid")), (expected, ran), "{}", done.whole());
        assert!(!done.whole().contains("a-token-for"), "{}", done.whole());
        let asked = server.asked();
        assert!(
            asked.len() == 1 && asked[0].contains("authorization: Bearer a-token-for-the-decision-point"),
            "{asked:?}"
        );
        // Nothing of an answer that is none gets to the model.
        assert!(expected != "policy_denied" || done.json()["error"]["message"] == "This call is not permitted.");
    }
    let policies = call(&desk, "pay").json()["audit"]["policies"].clone();
    assert!(policies.is_null(), "{policies}");
    server.says(r#"{"result":{"allow":true,"policies":["small"]}}"#);
    let policies = call(&desk, "pay").json()["audit"]["policies"].clone();
    assert_eq!(policies, serde_json::json!(["http:small", format!("http-set:{}", server.url)]));
    server.asked();
    let denied = call(&desk, "burn");
    assert_eq!((code(&denied).as_str(), server.asked().len()), ("policy_denied", 0));
    assert_eq!(desk.run(&["journal", "check"]).code, Some(0));
}

#[test]
fn in_the_shadow_it_is_only_written_down() {
    let server = Server::start();
    let desk = desk(&format!("url = \"{}\"\nmode = \"shadow\"", server.url));
    server.says(r#"{"result":{"allow":false,"policies":["no"]}}"#);
    let done = call(&desk, "pay");
    let expected = ["native:declared-allow", "shadow:deny:http:no", &format!("shadow:deny:http-set:{}", server.url)];
    assert_eq!((code(&done), &done.json()["audit"]["policies"]), ("ok".to_owned(), &serde_json::json!(expected)));
    assert!(server.asked()[0].contains(r#""shadow":true"#));
}

#[test]
fn decision_points_that_cannot_be_meant() {
    for (name, policy) in [
        ("insecure", "url = \"http://policy.example/x\""),
        ("no_url", "timeout = \"1s\""),
        ("credentials", "url = \"https://user:hunter22@policy.example/x\""),
        ("no_token", "url = \"http://127.0.0.1/x\"\ntoken_env = \"LOCKGATE_NO_SUCH_TOKEN\""),
        ("no_time", "url = \"http://127.0.0.1/x\"\ntimeout = \"0s\""),
        ("rules", "url = \"http://127.0.0.1/x\"\nfiles = [\"a.cedar\"]"),
    ] {
        let done = desk(policy).run(&["policy", "check", "run.toml"]);
        assert!(done.code == Some(2) && !done.whole().contains("hunter22"), "{}", done.whole());
        insta::assert_snapshot!(name, done.whole());
    }
    let checked = desk("url = \"http://127.0.0.1:8181/v1/data/lockgate/decision?x=1\"\nmode = \"shadow\"");
    insta::assert_snapshot!("checked", checked.run(&["policy", "check", "run.toml"]).whole());
}

#[test]
fn whoever_only_wants_to_know_says_so() {
    let server = Server::start();
    let desk = desk(&format!("url = \"{}\"", server.url));
    server.says(r#"{"result":{"allow":true,"policies":["small"]}}"#);
    let done = call(&desk, "pay");
    assert!(server.asked()[0].contains(r#""shadow":false"#));
    let id = done.json()["call_id"].as_str().unwrap().to_owned();
    let explain = |format: &str| desk.run(&["policy", "explain", &id, "--format", format]);
    let explained = explain("json").json();
    assert!(server.asked().iter().all(|asked| asked.contains(r#""shadow":true"#)));
    for answer in [&explained["recorded"], &explained["now"]] {
        assert_eq!(
            (&answer["policies"], &answer["set"]),
            (&serde_json::json!(["http:small"]), &server.url.as_str().into())
        );
    }
    assert_eq!(explained["same_set"], true);
    server.says(r#"{"result":{"allow":false,"policies":["no"]}}"#);
    let tested = desk.run(&["policy", "backtest", "run.toml", "--format", "json"]).json();
    assert_eq!(tested["differences"][0]["policies_now"], serde_json::json!(["http:no"]));
    assert!(server.asked().iter().all(|asked| asked.contains(r#""shadow":true"#)));
    // No answer is none: it is no denial by the policy.
    server.says("nonsense");
    let tested = desk.run(&["policy", "backtest", "run.toml", "--format", "json"]);
    assert_eq!((tested.code, &tested.json()["unjudged"]), (Some(0), &serde_json::json!({"no_answer": 1})));
    let explained = explain("json").json();
    assert!(explained["now"].is_null() && explained["recorded"]["answer"] == "allow", "{explained}");
    assert!(explain("human").stdout.contains("not decided: there is no answer"), "{explained}");
}

#[test]
fn in_the_shadow_it_is_explained_beside() {
    let server = Server::start();
    let desk = desk(&format!("url = \"{}\"\nmode = \"shadow\"", server.url));
    let explain = |format: &str| desk.run(&["policy", "explain", "run.toml", "pay", "{}", "--format", format]);
    server.says(r#"{"result":{"allow":false,"policies":["no"]}}"#);
    let now = explain("json").json()["now"].clone();
    assert_eq!((&now["engine"], &now["answer"]), (&"native".into(), &"allow".into()));
    assert_eq!((&now["shadow"]["engine"], &now["shadow"]["answer"]), (&"http".into(), &"deny".into()));
    assert_eq!(now["shadow"]["policies"], serde_json::json!(["http:no"]));
    server.says("nonsense");
    let now = explain("json").json()["now"].clone();
    assert!(now["answer"] == "allow" && now["shadow"].is_null() && now["shadow_unknown"].is_string(), "{now}");
    assert!(explain("human").stdout.contains("in the shadow, where it decides nothing: there is no answer"));
}
