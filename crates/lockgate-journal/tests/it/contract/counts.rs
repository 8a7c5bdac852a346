//! What a decision looked at still holds when its call is claimed.

use std::time::Duration;

use lockgate_contract::effect::Effect;
use lockgate_contract::event::Finding;
use lockgate_contract::ids::{CallId, RunId};
use lockgate_contract::ports::{Claim, ClaimRefused, Clock as _, Count, JournalError, Lease, NewRun, Per, Seen};

use crate::support::{Fixture, claim, event, found, new_run};

contract! {
    numbers_are_those_of_the_calls_that_were_admitted;
    a_claim_holds_as_long_as_its_numbers_do;
    what_is_long_ago_or_before_the_beginning_does_not_count;
    a_further_attempt_is_the_same_call;
    who_looks_again_is_admitted_exactly_as_often_as_the_number_says;
}

const SUBJECT: &str = "subject:default/local/agent";

fn count(per: Per) -> Count {
    Count { name: "payments".to_owned(), tool: None, effect: None, per, within: None, from: None }
}

fn looked(call: &CallId, count: &Count, admitted: u64) -> Claim {
    Claim { seen: vec![Seen { count: count.clone(), admitted }], ..claim(call, 1, None) }
}

async fn try_claim(f: &Fixture, run: &Lease, claim: Claim) -> Result<(), ClaimRefused> {
    f.journal.claim(run, claim, vec![event("tool.started")]).await.map(drop)
}

async fn admitted(f: &Fixture, run: &RunId, call: u32, count: &Count) -> u64 {
    let counts = std::slice::from_ref(count);
    f.journal.admitted(run, &run.call(0, call), SUBJECT, counts).await.unwrap()[0]
}

fn changed() -> Result<(), ClaimRefused> {
    Err(ClaimRefused::Changed("payments".to_owned()))
}

async fn numbers_are_those_of_the_calls_that_were_admitted(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    let foreign = NewRun { tenant: "another".to_owned(), ..new_run("run-c") };
    let foreign = f.journal.create_run(foreign).await.unwrap().0.lease().clone();
    try_claim(&f, &run, claim(&run.call(0, 0), 1, None)).await.unwrap();
    let look = Claim { tool_name: "look".to_owned(), effect: Effect::Read, ..claim(&run.call(0, 1), 1, None) };
    try_claim(&f, &run, look).await.unwrap();
    try_claim(&f, &other, claim(&other.call(0, 0), 1, None)).await.unwrap();
    let somebody = Claim { subject: "subject:default/bob/agent".to_owned(), ..claim(&other.call(0, 1), 1, None) };
    try_claim(&f, &other, somebody).await.unwrap();
    try_claim(&f, &foreign, claim(&foreign.call(0, 0), 1, None)).await.unwrap();

    let paid = |per| Count { tool: Some("pay".to_owned()), ..count(per) };
    let reads = |per| Count { effect: Some(Effect::Read), ..count(per) };
    for (counted, expected) in [
        (count(Per::Run), 2),
        (count(Per::Subject), 3),
        (count(Per::Tenant), 4),
        (paid(Per::Run), 1),
        (paid(Per::Subject), 2),
        (reads(Per::Tenant), 1),
    ] {
        assert_eq!(admitted(&f, &run, 9, &counted).await, expected, "{counted:?}");
    }
    // Neither the call itself, nor another tenant's.
    assert_eq!(admitted(&f, &run, 0, &count(Per::Run)).await, 1);
    assert_eq!(admitted(&f, &foreign, 9, &count(Per::Tenant)).await, 1);
    let several = [count(Per::Tenant), paid(Per::Run)];
    assert_eq!(f.journal.admitted(&run, &run.call(0, 9), SUBJECT, &several).await.unwrap(), [4, 1]);
    let nowhere = RunId::new("run-z");
    let told = f.journal.admitted(&nowhere, &nowhere.call(0, 0), SUBJECT, &several).await;
    assert_eq!(told.unwrap_err(), JournalError::NoSuchRun(nowhere));
}

async fn a_claim_holds_as_long_as_its_numbers_do(f: Fixture) {
    let (run, other) = (f.create("run-a").await, f.create("run-b").await);
    let tenant = count(Per::Tenant);
    try_claim(&f, &run, looked(&run.call(0, 0), &tenant, 0)).await.unwrap();
    f.ask(&other, "apr-1").await;
    let before = f.everything(&other).await;
    for wrong in [0, 2] {
        assert_eq!(try_claim(&f, &other, looked(&other.call(0, 1), &tenant, wrong)).await, changed());
    }
    assert_eq!(f.everything(&other).await, before);
    // Every number, not only the first.
    let of_run = Seen { count: count(Per::Run), admitted: 1 };
    let mut both = looked(&other.call(0, 1), &tenant, 1);
    both.seen.push(of_run);
    assert_eq!(try_claim(&f, &other, both.clone()).await, changed());
    both.seen[1].admitted = 0;
    try_claim(&f, &other, both).await.unwrap();
}

async fn what_is_long_ago_or_before_the_beginning_does_not_count(f: Fixture) {
    let run = f.create("run-a").await;
    try_claim(&f, &run, claim(&run.call(0, 0), 1, None)).await.unwrap();
    f.clock.pass(Duration::from_secs(5));
    let now = f.clock.now();
    try_claim(&f, &run, claim(&run.call(0, 1), 1, None)).await.unwrap();
    let from = Count { from: Some(now), ..count(Per::Run) };
    let later = Count { from: Some(now.after(Duration::from_millis(1))), ..count(Per::Run) };
    let within = Count { within: Some(Duration::from_secs(10)), ..count(Per::Run) };
    let numbers = [admitted(&f, &run, 2, &from).await, admitted(&f, &run, 2, &later).await];
    assert_eq!((numbers, admitted(&f, &run, 2, &within).await), ([1, 0], 2));
    f.clock.pass(Duration::from_secs(5));
    assert_eq!(admitted(&f, &run, 2, &within).await, 1);
    // A number that has become smaller is another number too.
    assert_eq!(try_claim(&f, &run, looked(&run.call(0, 2), &within, 2)).await, changed());
    try_claim(&f, &run, looked(&run.call(0, 2), &within, 1)).await.unwrap();
}

async fn a_further_attempt_is_the_same_call(f: Fixture) {
    let run = f.create("run-a").await;
    let (call, of_run) = (run.call(0, 0), count(Per::Run));
    try_claim(&f, &run, looked(&call, &of_run, 0)).await.unwrap();
    f.journal.reconcile(&run, &call, vec![found(&call, Finding::NotDone)]).await.unwrap();
    assert_eq!(admitted(&f, &run, 0, &of_run).await, 0);
    try_claim(&f, &run, Claim { attempt: 2, ..looked(&call, &of_run, 0) }).await.unwrap();
    assert_eq!(admitted(&f, &run, 1, &of_run).await, 1);
}

async fn who_looks_again_is_admitted_exactly_as_often_as_the_number_says(f: Fixture) {
    let mut tasks = Vec::new();
    for nth in 0..8 {
        let run = f.create(&format!("run-{nth}")).await;
        let journal = f.journal.clone();
        tasks.push(tokio::spawn(async move {
            let (call, payments) = (run.call(0, 0), count(Per::Tenant));
            let mut tries = 0;
            loop {
                tries += 1;
                assert!(tries <= 4, "only those that were admitted change the number");
                let counts = std::slice::from_ref(&payments);
                let number = journal.admitted(&run, &call, SUBJECT, counts).await.unwrap()[0];
                if number >= 3 {
                    return false;
                }
                match journal.claim(&run, looked(&call, &payments, number), vec![event("tool.started")]).await {
                    Ok(_) => return true,
                    Err(refused) => assert_eq!(Err(refused), changed()),
                }
            }
        }));
    }
    let mut accepted = 0;
    for task in tasks {
        accepted += u32::from(task.await.unwrap());
    }
    assert_eq!(accepted, 3);
}
