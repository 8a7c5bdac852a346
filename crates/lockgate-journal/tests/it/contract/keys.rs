//! Callers' own names for their requests.

use std::time::Duration;

use lockgate_contract::ids::CallId;
use lockgate_contract::ports::{Claim, ClaimRefused, KeyHolder, Lease};

use crate::support::{Fixture, OPEN_FOR, caller_key, claim, event};

contract! {
    a_key_belongs_to_its_first_call;
    a_key_is_passed_on_once_for_the_same_request;
    a_key_is_forgotten_when_its_time_is_over;
    keys_of_different_tenants_never_meet;
    a_refused_claim_takes_no_key;
    many_take_one_key_and_one_gets_it;
}

fn keyed(call: &CallId, attempt: u32, key: &str, request: &str) -> Claim {
    Claim { caller_key: Some(caller_key(key, request)), ..claim(call, attempt, None) }
}

async fn try_claim(f: &Fixture, run: &Lease, claim: Claim) -> Result<(), ClaimRefused> {
    f.journal.claim(run, claim, vec![event("tool.started")]).await.map(drop)
}

fn held_by(run: &Lease, key: &str, request: &str) -> ClaimRefused {
    let request = caller_key(key, request).request;
    ClaimRefused::KeyTaken(Box::new(KeyHolder { run_id: run.run_id.clone(), call_id: run.call(0, 0), request }))
}

async fn a_key_belongs_to_its_first_call(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    try_claim(&f, &run, keyed(&run.call(0, 0), 1, "k", "one")).await.unwrap();
    let before = (f.everything(&run).await, f.everything(&other).await);
    // The same request or another, in this run or another: whoever asks is told who has it.
    for request in ["one", "two"] {
        let again = try_claim(&f, &other, keyed(&other.call(0, 0), 1, "k", request)).await;
        assert_eq!(again, Err(held_by(&run, "k", "one")));
        let again = try_claim(&f, &run, keyed(&run.call(0, 1), 1, "k", request)).await;
        assert_eq!(again, Err(held_by(&run, "k", "one")));
    }
    assert_eq!((f.everything(&run).await, f.everything(&other).await), before);
    let holder = f.journal.key_holder("tenant", "k").await.unwrap().unwrap();
    assert_eq!(ClaimRefused::KeyTaken(Box::new(holder)), held_by(&run, "k", "one"));
    assert_eq!(f.journal.key_holder("another", "k").await.unwrap(), None);
    // A further attempt of the first call is the same request; under another request it is not.
    try_claim(&f, &run, keyed(&run.call(0, 0), 2, "k", "one")).await.unwrap();
    let changed = try_claim(&f, &run, keyed(&run.call(0, 0), 3, "k", "two")).await;
    assert_eq!(changed, Err(held_by(&run, "k", "one")));
    try_claim(&f, &other, keyed(&other.call(0, 0), 1, "K", "one")).await.unwrap();
}

async fn a_key_is_passed_on_once_for_the_same_request(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    try_claim(&f, &run, keyed(&run.call(0, 0), 1, "k", "one")).await.unwrap();
    let passed = |call: u32, request: &str, by: &CallId| {
        let mut claim = keyed(&other.call(0, call), 1, "k", request);
        claim.caller_key.as_mut().unwrap().passed_on_by = Some(by.clone());
        claim
    };
    let first = run.call(0, 0);
    for (request, by) in [("two", &first), ("one", &run.call(0, 1))] {
        assert_eq!(try_claim(&f, &other, passed(0, request, by)).await, Err(held_by(&run, "k", "one")));
    }
    try_claim(&f, &other, passed(0, "one", &first)).await.unwrap();
    // Whoever comes second finds the new holder.
    assert_eq!(try_claim(&f, &other, passed(1, "one", &first)).await, Err(held_by(&other, "k", "one")));
}

async fn a_key_is_forgotten_when_its_time_is_over(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    try_claim(&f, &run, keyed(&run.call(0, 0), 1, "k", "one")).await.unwrap();
    f.clock.pass(OPEN_FOR.saturating_sub(Duration::from_millis(1)));
    let early = try_claim(&f, &other, keyed(&other.call(0, 0), 1, "k", "two")).await;
    assert_eq!(early, Err(held_by(&run, "k", "one")));
    f.clock.pass(Duration::from_millis(1));
    assert_eq!(f.journal.key_holder("tenant", "k").await.unwrap(), None);
    try_claim(&f, &other, keyed(&other.call(0, 0), 1, "k", "two")).await.unwrap();
    // Now it is the second one's.
    let again = try_claim(&f, &run, keyed(&run.call(0, 1), 1, "k", "one")).await;
    assert_eq!(again, Err(held_by(&other, "k", "two")));
}

async fn keys_of_different_tenants_never_meet(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    try_claim(&f, &run, keyed(&run.call(0, 0), 1, "k", "one")).await.unwrap();
    let mut foreign = keyed(&other.call(0, 0), 1, "k", "two");
    if let Some(key) = &mut foreign.caller_key {
        "another".clone_into(&mut key.tenant);
    }
    try_claim(&f, &other, foreign).await.unwrap();
}

async fn a_refused_claim_takes_no_key(f: Fixture) {
    let run = f.create("run-a").await;
    let mut refused = keyed(&run.call(0, 0), 1, "k", "one");
    refused.approval = claim(&run.call(0, 0), 1, Some("apr-missing")).approval;
    assert_eq!(try_claim(&f, &run, refused).await, Err(ClaimRefused::Stale));
    try_claim(&f, &run, keyed(&run.call(0, 1), 1, "k", "two")).await.unwrap();
}

async fn many_take_one_key_and_one_gets_it(f: Fixture) {
    let mut tasks = Vec::new();
    for nth in 0..8 {
        let run = f.create(&format!("run-{nth}")).await;
        let journal = f.journal.clone();
        tasks.push(tokio::spawn(async move {
            let claim = keyed(&run.call(0, 0), 1, "k", "one");
            journal.claim(&run, claim, vec![event("tool.started")]).await.map(drop)
        }));
    }
    let mut accepted = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(()) => accepted += 1,
            Err(refused) => assert!(matches!(refused, ClaimRefused::KeyTaken(_)), "{refused}"),
        }
    }
    assert_eq!(accepted, 1);
}
