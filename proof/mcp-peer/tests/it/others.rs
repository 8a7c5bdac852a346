//! What is another's: whoever names it is told exactly what they are told of something that is not there.

use serde_json::{Value, json};

use crate::attacks::{counting, paid, token};
use crate::client::{Answer, Session, exchange, open, post, request, until};
use crate::gateway::{Gateway, peer, wait_for};

/// A gateway with anna of one tenant, berta of another, carla of anna's, and a server that only anna sees.
struct House {
    gateway: Gateway,
    anna: String,
    berta: String,
    carla: String,
}

impl House {
    fn new(permission: &str) -> Self {
        let hidden = peer(&["serve", "--stdio"]);
        let run_file = format!(
            "[journal]\nurl = \"sqlite:journal.db\"\n\n[server]\napprove_in_client = true\n\n\
             [auth]\ntokens_file = \"tokens.toml\"\nrun_key_file = \"run.key\"\n\n{}\n\
             [mcp.hidden]\n{hidden}\npermission = \"allow\"\nscopes = [\"inner\"]\n",
            counting(permission)
        );
        let mut gateway = Gateway::new(&run_file);
        let make = |id: &str, tenant: &str, more: &[&str]| {
            token(&gateway, &[&[id, "--user", id, "--agent", "bot", "--tenant", tenant][..], more].concat())
        };
        let anna = make("anna", "a", &["--scope", "inner"]);
        let (berta, carla) = (make("berta", "b", &[]), make("carla", "a", &[]));
        // Any key: those of the runs are made with it later.
        gateway.write("run.key", &format!("{}\n", "5a".repeat(32)));
        std::fs::set_permissions(gateway.path("run.key"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        gateway.start();
        Self { gateway, anna, berta, carla }
    }

    fn ask(&self, path: &str, bearer: &str, method: &str, params: Value) -> Answer {
        post(self.gateway.address(), path, Some(bearer), method, params).unwrap()
    }

    fn strangers(&self) -> [&str; 2] {
        [&self.berta, &self.carla]
    }

    /// Of the two names, one is another's and one is nobody's: the answers differ in nothing else.
    fn are_alike(&self, what: &str, theirs: &str, nobodys: &str, ask: impl Fn(&str, &str) -> Answer) {
        for stranger in self.strangers() {
            let (one, other) = (ask(stranger, theirs), ask(stranger, nobodys));
            assert_eq!(one.status, other.status, "{what}: {} {}", one.text(), other.text());
            let (one, other) = (one.text().replace(theirs, "NAME"), other.text().replace(nobodys, "NAME"));
            assert_eq!(one, other, "{what}");
            assert!(!one.contains("paid"), "{what}: {one}");
        }
    }
}

fn with_tasks(mut params: Value) -> Value {
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = tasks;
    params
}

fn slow() -> Value {
    json!({ "name": "bank__pay", "arguments": { "delay_ms": 2000 } })
}

#[test]
fn another_s_task_is_none() {
    let house = House::new("allow");
    let begun = house.ask("/mcp", &house.anna, "tools/call", with_tasks(slow())).json();
    let task = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let nobodys = format!("{}{}", &task[..task.len() - 4], "zzzz");
    let look = |when: &str| {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            house.are_alike(&format!("{method} {when}"), &task, &nobodys, |stranger, id| {
                house.ask(
                    "/mcp",
                    stranger,
                    method,
                    with_tasks(json!({ "taskId": id, "inputResponses": { "q1-x": {} } })),
                )
            });
        }
        for stranger in house.strangers() {
            let wanted = json!({ "notifications": { "taskIds": [task] } });
            let heard = house.ask("/mcp", stranger, "subscriptions/listen", with_tasks(wanted)).text();
            assert!(!heard.contains(&task), "{when}: {heard}");
        }
    };
    look("while it works");
    let get = || house.ask("/mcp", &house.anna, "tasks/get", with_tasks(json!({ "taskId": task }))).json();
    let done = wait_for("the end of the task", || {
        let now = get();
        (now["result"]["status"] != "working").then_some(now)
    });
    // Nobody has cancelled it.
    assert_eq!(done["result"]["status"], "completed", "{done}");
    look("once it is done");
    assert_eq!(paid(&house.gateway), 1);
}

#[test]
fn another_s_question_is_none() {
    let house = House::new("ask");
    let asks = |bearer: &str, more: Value| {
        let mut params = json!({ "name": "bank__pay", "arguments": {} });
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        house.ask("/mcp", bearer, "tools/call", params)
    };
    let asked = asks(&house.anna, json!({})).json();
    let state = asked["result"]["requestState"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let fields = &asked["result"]["inputRequests"][&key]["params"]["requestedSchema"]["properties"];
    let field = fields.as_object().and_then(|fields| fields.keys().next()).cloned().unwrap_or_default();
    let yes = fields[&field]["enum"][0].as_str().map_or(json!(true), |yes| json!(yes));
    let answers = json!({ key: { "action": "accept", "content": { field: yes } } });
    let mut nobodys = state.clone();
    nobodys.replace_range(..1, if state.starts_with('A') { "B" } else { "A" });
    house.are_alike("a state", &state, &nobodys, |stranger, state| {
        asks(stranger, json!({ "requestState": state, "inputResponses": answers }))
    });
    assert_eq!(paid(&house.gateway), 0);
    // It is still hers.
    let answer = asks(&house.anna, json!({ "requestState": state, "inputResponses": answers })).json();
    assert!(answer["error"].is_null(), "{answer}");
}

#[test]
fn another_s_approval_is_none() {
    let house = House::new("ask");
    let asked = house.ask("/mcp", &house.anna, "tools/call", json!({ "name": "bank__pay", "arguments": {} })).json();
    let id =
        asked["result"]["structuredContent"]["approval_id"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    let nobodys = format!("{}{}", &id[..id.len() - 4], "zzzz");
    house.are_alike("an approval", &id, &nobodys, |stranger, id| {
        let meta = json!({ "dev.lockgate/approval": id });
        house.ask("/mcp", stranger, "tools/call", json!({ "name": "bank__pay", "arguments": {}, "_meta": meta }))
    });
    let address = house.gateway.address();
    house.are_alike("its page", &id, &nobodys, |stranger, id| {
        let asked = format!("GET /approvals/{id} HTTP/1.1\r\nHost: {address}\r\nAccept: application/json\r\nAuthorization: Bearer {stranger}\r\nConnection: close\r\n\r\n");
        exchange(address, asked.as_bytes()).unwrap()
    });
    for verb in ["approve", "deny"] {
        house.are_alike(verb, &id, &nobodys, |stranger, id| {
            let headers = format!("Authorization: Bearer {stranger}\r\n");
            let digest = json!({ "digest": format!("sha256:{}", "0".repeat(64)) }).to_string();
            exchange(address, request(address, &format!("/approvals/{id}/{verb}"), &headers, &digest).as_bytes())
                .unwrap()
        });
    }
    assert_eq!(paid(&house.gateway), 0);
}

/// What a client asks in its session.
type Asks<'a> = &'a dyn Fn(&Session) -> String;

#[test]
fn another_s_session_and_its_streams_are_none() {
    let house = House::new("allow");
    let address = house.gateway.address();
    let hers = Session::begin_as(Some(&house.anna), address, "2025-11-25");
    let mut general = open(address, hers.bare("GET", None).as_bytes()).unwrap();
    until(&mut general, "text/event-stream");
    // A stream that can be read again.
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": slow() });
    let both =
        hers.text(&call).replace("application/json, text/event-stream", "application/json;q=0.1, text/event-stream");
    let mut stream = open(address, both.as_bytes()).unwrap();
    let read = until(&mut stream, "paid");
    let event = read.lines().find_map(|line| line.strip_prefix("id: ")).unwrap_or_else(|| panic!("{read}")).to_owned();
    let nobodys = format!("{}{}", &hers.id[..hers.id.len() - 4], "zzzz");
    let asks: [(&str, Asks<'_>); 6] = [
        ("POST", &|session| session.text(&json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/list" }))),
        ("a call", &|session| session.text(&call)),
        ("a notification", &|session| {
            let cancelled =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
            session.text(&cancelled)
        }),
        ("GET", &|session| session.bare("GET", None)),
        ("its stream", &|session| session.bare("GET", Some(&event))),
        ("DELETE", &|session| session.bare("DELETE", None)),
    ];
    for (what, ask) in asks {
        house.are_alike(what, &hers.id, &nobodys, |stranger, id| {
            let mut taken = hers.taken_by(stranger);
            taken.id = id.to_owned();
            let answer = exchange(address, ask(&taken).as_bytes()).unwrap();
            assert_eq!(answer.status, 404, "{what}: {}", answer.text());
            answer
        });
    }
    // An event of hers in a session of their own is none of theirs.
    for stranger in house.strangers() {
        let own = Session::begin_as(Some(stranger), address, "2025-11-25");
        let answer = exchange(address, own.bare("GET", Some(&event)).as_bytes()).unwrap();
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    assert_eq!(hers.ask("ping", &json!({})).status, 200);
    assert_eq!(paid(&house.gateway), 1);
}

#[test]
fn what_a_hidden_server_has_is_not_there() {
    let house = House::new("allow");
    wait_for("the hidden server", || {
        let listed = house.ask("/mcp", &house.anna, "tools/list", json!({})).text();
        listed.contains("hidden__").then_some(())
    });
    let list = |method: &str, member: &str, key: &str| {
        let listed = house.ask("/mcp", &house.anna, method, json!({})).json();
        let entries = listed["result"][member].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
        let names = entries.iter().filter_map(|entry| entry[key].as_str().map(str::to_owned));
        names.filter(|name| name.contains("hidden")).collect::<Vec<_>>()
    };
    let (uris, prompts, tools) = (
        list("resources/list", "resources", "uri"),
        list("prompts/list", "prompts", "name"),
        list("tools/list", "tools", "name"),
    );
    let (uri, prompt, tool) = (&uris[0], &prompts[0], &tools[0]);
    assert_eq!(house.ask("/mcp", &house.anna, "resources/read", json!({ "uri": uri })).status, 200);
    let other = |name: &str| name.replace("hidden", "nobody");
    house.are_alike("a tool", tool, &other(tool), |stranger, name| {
        house.ask("/mcp", stranger, "tools/call", json!({ "name": name, "arguments": {} }))
    });
    house.are_alike("a resource", uri, &other(uri), |stranger, uri| {
        house.ask("/mcp", stranger, "resources/read", json!({ "uri": uri }))
    });
    house.are_alike("a prompt", prompt, &other(prompt), |stranger, name| {
        house.ask("/mcp", stranger, "prompts/get", json!({ "name": name }))
    });
    house.are_alike("a completion", uri, &other(uri), |stranger, uri| {
        let reference = json!({ "type": "ref/resource", "uri": uri });
        let params = json!({ "ref": reference, "argument": { "name": "x", "value": "" } });
        house.ask("/mcp", stranger, "completion/complete", params)
    });
    house.are_alike("a subscription", uri, &other(uri), |stranger, uri| {
        house.ask(
            "/mcp",
            stranger,
            "subscriptions/listen",
            json!({ "notifications": { "resourceSubscriptions": [uri] } }),
        )
    });
    for stranger in house.strangers() {
        let session = Session::begin_as(Some(stranger), house.gateway.address(), "2025-11-25");
        let asks = |uri: &str| session.ask("resources/subscribe", &json!({ "uri": uri })).json()["error"].clone();
        assert_eq!(asks(uri), asks(&other(uri)));
        for method in ["server/discover", "tools/list"] {
            let said = house.ask("/mcp", stranger, method, json!({})).text();
            assert!(!said.contains("hidden"), "{method}: {said}");
        }
    }
}

#[test]
fn the_token_of_another_run_opens_none() {
    let house = House::new("allow");
    let run = |bearer: &str| {
        let begun = house.ask("/mcp", bearer, "tools/call", with_tasks(slow())).json();
        begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned()
    };
    let (hers, theirs) = (run(&house.anna), run(&house.berta));
    let words = ["token", "run", &theirs, "--key", "run.key", "--journal", "sqlite:journal.db"];
    let output = house.gateway.run(&words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let token = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let list = |path: &str, bearer: &str| {
        let answer = house.ask(path, bearer, "tools/list", json!({}));
        (answer.status, answer.text())
    };
    assert_eq!(list(&format!("/runs/{theirs}/mcp"), &token).0, 200);
    let nobodys = format!("{}{}", &hers[..hers.len() - 4], "zzzz");
    let refused = list(&format!("/runs/{nobodys}/mcp"), &token);
    assert!(matches!(refused.0, 401 | 403), "{refused:?}");
    assert_eq!(list(&format!("/runs/{hers}/mcp"), &token), refused);
    assert!(matches!(list("/mcp", &token).0, 401 | 403));
    // Whoever has a token of the file does not come in at a run, not even at their own.
    for bearer in [&house.anna, &house.berta] {
        let refused = list(&format!("/runs/{nobodys}/mcp"), bearer);
        assert!(matches!(refused.0, 401 | 403), "{refused:?}");
        assert_eq!(list(&format!("/runs/{hers}/mcp"), bearer), refused);
    }
    // Changed by a digit, or with the name of the other run in it.
    let mut forged = token.clone();
    forged.pop();
    assert!(matches!(list(&format!("/runs/{theirs}/mcp"), &forged).0, 401 | 403));
}
