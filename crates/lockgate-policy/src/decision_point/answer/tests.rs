use super::*;

fn said(text: &str) -> Result<Answer, String> {
    read(text.as_bytes().to_vec())
}

#[test]
fn plain_answers() {
    for (text, decision) in [
        (r#"{"result":true}"#, PolicyDecision::Allow),
        (r#"{"result":false}"#, PolicyDecision::Deny),
        (r#"{"result":{"allow":true}}"#, PolicyDecision::Allow),
        (r#"{"result":{"allow":false}}"#, PolicyDecision::Deny),
        (r#"{"result":{"decision":"allow"}}"#, PolicyDecision::Allow),
        (r#"{"result":{"decision":"ask"}}"#, PolicyDecision::Ask),
        (r#"{"result":{"decision":"deny"}}"#, PolicyDecision::Deny),
        (r#"{"decision_id":"1","metrics":{"n":[1]},"result":true}"#, PolicyDecision::Allow),
    ] {
        assert_eq!(said(text), Ok(Answer::plain(decision)), "{text}");
    }
}

#[test]
fn an_answer_that_asks_says_whom() {
    let text = r#"{"result":{"decision":"ask","policies":["large","fri/day"],"reason":"too much","approvers":"finance,legal:2","expires":"30m"}}"#;
    let approvers = Approvers { roles: vec!["finance".to_owned(), "legal".to_owned()], count: 2 };
    assert_eq!(
        said(text).unwrap(),
        Answer {
            decision: PolicyDecision::Ask,
            policies: vec!["large".to_owned(), "fri/day".to_owned()],
            reason: Some("too much".to_owned()),
            approvers: Some(approvers),
            expires_in: Some(Duration::from_mins(30)),
        }
    );
}

#[test]
fn whatever_else_is_no_answer() {
    let deep = format!(r#"{{"result":true,"metrics":{}{}}}"#, "[".repeat(40), "]".repeat(40));
    for text in [
        "",
        "true",
        "[true]",
        "{}",
        r#"{"allow":true}"#,
        r#"{"Result":true}"#,
        r#"{"result":null}"#,
        r#"{"result":"allow"}"#,
        r#"{"result":"true"}"#,
        r#"{"result":1}"#,
        r#"{"result":[true]}"#,
        r#"{"result":{}}"#,
        r#"{"result":true} true"#,
        r#"{"result":true"#,
        // Which of both was meant?
        r#"{"result":false,"result":true}"#,
        r#"{"result":{"allow":false,"allow":true}}"#,
        r#"{"result":{"allow":true,"decision":"deny"}}"#,
        r#"{"result":{"decision":"allow","allow":true}}"#,
        // Words and types that mean nothing here.
        r#"{"result":{"decision":"Allow"}}"#,
        r#"{"result":{"decision":"permit"}}"#,
        r#"{"result":{"decision":true}}"#,
        r#"{"result":{"allow":"true"}}"#,
        r#"{"result":{"allow":1}}"#,
        r#"{"result":{"allow":null}}"#,
        r#"{"result":{"allow":true,"policies":"a"}}"#,
        r#"{"result":{"allow":true,"policies":[1]}}"#,
        r#"{"result":{"allow":true,"policies":[""]}}"#,
        r#"{"result":{"allow":true,"policies":["two words"]}}"#,
        r#"{"result":{"allow":true,"reason":7}}"#,
        r#"{"result":{"decision":"ask","approvers":""}}"#,
        r#"{"result":{"decision":"ask","approvers":"finance:0"}}"#,
        r#"{"result":{"decision":"ask","approvers":["finance"]}}"#,
        r#"{"result":{"decision":"ask","expires":30}}"#,
        r#"{"result":{"decision":"ask","expires":"0s"}}"#,
        r#"{"result":{"decision":"ask","expires":"soon"}}"#,
        // A misspelt demand would demand nothing.
        r#"{"result":{"decision":"ask","aprovers":"finance"}}"#,
        r#"{"result":{"allow":true,"unless":"sunday"}}"#,
        // Whoever demands a yes does not mean "allow".
        r#"{"result":{"allow":true,"approvers":"finance"}}"#,
        r#"{"result":{"decision":"deny","expires":"5m"}}"#,
        &deep,
    ] {
        assert!(said(text).is_err(), "{text}"); // R-162
    }
    assert!(read(b"{\"result\":true,\"\xff\":1}".to_vec()).is_err());
    let many = vec!["\"p\""; MOST_POLICIES + 1].join(",");
    assert!(said(&format!(r#"{{"result":{{"allow":true,"policies":[{many}]}}}}"#)).is_err());
    let long = "p".repeat(LONGEST_NAME + 1);
    assert!(said(&format!(r#"{{"result":{{"allow":true,"policies":["{long}"]}}}}"#)).is_err());
}
