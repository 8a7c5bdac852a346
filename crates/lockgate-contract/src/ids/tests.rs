use super::*;

#[test]
fn ids_have_their_forms() {
    assert_eq!(RunId::from_random(0x34c5_5971_3956).as_str(), "run-34c559713956");
    assert_eq!(RunId::from_random(1).as_str(), "run-000000000001");
    assert_eq!(RunId::from_random(u64::MAX).as_str(), "run-ffffffffffff");
    let run = RunId::from_random(1);
    assert_eq!(run.call(2, 1).as_str(), "run-000000000001:step-2:call-1");
    assert_eq!(run.call(2, 1).inner(3).inner(1).as_str(), "run-000000000001:step-2:call-1.3.1");
    let digest = Digest::from_bytes([0xab; 32]);
    assert_eq!(ApprovalId::from_digest(digest).as_str(), "apr-abababababababab");
}

#[test]
fn calls_of_a_run_never_share_an_id() {
    let run = RunId::from_random(1);
    let mut ids = std::collections::BTreeSet::new();
    for step in 0..12 {
        for index in 0..12 {
            assert!(ids.insert(run.call(step, index)));
            for inner in 0..12 {
                assert!(ids.insert(run.call(step, index).inner(inner)));
            }
        }
    }
}

#[test]
fn ids_are_plain_texts_outside() {
    let call = CallId::from("run-1:step-0:call-0");
    let text = serde_json::to_string(&call).unwrap();
    assert_eq!(text, "\"run-1:step-0:call-0\"");
    assert_eq!(serde_json::from_str::<CallId>(&text).unwrap(), call);
    assert_eq!((call.to_string().as_str(), call.as_ref()), ("run-1:step-0:call-0", "run-1:step-0:call-0"));
    assert_eq!(format!("{call:?}"), text);
}
