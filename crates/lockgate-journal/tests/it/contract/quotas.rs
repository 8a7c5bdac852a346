//! How many calls are admitted.

use std::time::Duration;

use lockgate_contract::effect::Effect;
use lockgate_contract::event::Finding;
use lockgate_contract::ids::CallId;
use lockgate_contract::ports::{Claim, ClaimRefused, Count, Lease, NewRun, Per, Quota};

use crate::support::{Fixture, claim, event, found, new_run};

contract! {
    what_is_counted_together;
    only_calls_of_the_tool_and_the_effect_count;
    what_is_long_ago_does_not_count;
    a_further_attempt_counts_nothing_more;
    what_is_refused_leaves_nothing;
    many_at_once_are_counted_one_after_the_other;
}

fn all(per: Per) -> Count {
    Count { name: "few".to_owned(), tool: None, effect: None, per, within: None, from: None }
}

fn quota(per: Per, most: u32) -> Quota {
    Quota { count: all(per), most: Some(most) }
}

fn counted(call: &CallId, quota: &Quota) -> Claim {
    Claim { quotas: vec![quota.clone()], ..claim(call, 1, None) }
}

async fn try_claim(f: &Fixture, run: &Lease, claim: Claim) -> Result<(), ClaimRefused> {
    f.journal.claim(run, claim, vec![event("tool.started")]).await.map(drop)
}

fn used_up() -> Result<(), ClaimRefused> {
    Err(ClaimRefused::Quota("few".to_owned()))
}

async fn what_is_counted_together(f: Fixture) {
    // The second call: in the same run, in another one, on behalf of somebody else, of another tenant.
    for (per, admitted) in [
        (Per::Run, [false, true, true, true]),
        (Per::Subject, [false, false, true, true]),
        (Per::Tenant, [false, false, false, true]),
    ] {
        for (place, admitted) in admitted.into_iter().enumerate() {
            let f = f.fresh();
            let (run, other) = (f.create("run-a").await, f.create("run-b").await);
            let foreign = NewRun { tenant: "another".to_owned(), ..new_run("run-c") };
            let foreign = f.journal.create_run(foreign).await.unwrap().0.lease().clone();
            let one = quota(per, 1);
            try_claim(&f, &run, counted(&run.call(0, 0), &one)).await.unwrap();
            let (run, subject) = match place {
                0 => (&run, None),
                1 => (&other, None),
                2 => (&other, Some("subject:tenant/bob/agent")),
                _ => (&foreign, Some("subject:another/bob/agent")),
            };
            let mut second = counted(&run.call(0, 1), &one);
            if let Some(subject) = subject {
                subject.clone_into(&mut second.subject);
            }
            let expected = if admitted { Ok(()) } else { used_up() };
            assert_eq!(try_claim(&f, run, second).await, expected, "{per:?}, {place}");
        }
    }
}

async fn only_calls_of_the_tool_and_the_effect_count(f: Fixture) {
    let run = f.create("run-a").await;
    let look =
        |call: u32| Claim { tool_name: "look".to_owned(), effect: Effect::Read, ..claim(&run.call(0, call), 1, None) };
    for call in 0..3 {
        try_claim(&f, &run, look(call)).await.unwrap();
    }
    let of_tool = Quota { count: Count { tool: Some("pay".to_owned()), ..all(Per::Tenant) }, most: Some(1) };
    let of_effect = Quota { count: Count { effect: Some(Effect::External), ..all(Per::Subject) }, most: Some(2) };
    let both =
        |call: u32| Claim { quotas: vec![of_tool.clone(), of_effect.clone()], ..claim(&run.call(0, call), 1, None) };
    try_claim(&f, &run, both(3)).await.unwrap();
    assert_eq!(try_claim(&f, &run, both(4)).await, used_up());
    let other = Claim { tool_name: "send".to_owned(), quotas: vec![of_effect.clone()], ..both(5) };
    try_claim(&f, &run, other.clone()).await.unwrap();
    assert_eq!(try_claim(&f, &run, Claim { call_id: run.call(0, 6), ..other }).await, used_up());
}

async fn what_is_long_ago_does_not_count(f: Fixture) {
    let (run, within) = (f.create("run-a").await, Duration::from_secs(10));
    let two = Quota { count: Count { within: Some(within), ..all(Per::Tenant) }, most: Some(2) };
    try_claim(&f, &run, counted(&run.call(0, 0), &two)).await.unwrap();
    f.clock.pass(Duration::from_secs(6));
    try_claim(&f, &run, counted(&run.call(0, 1), &two)).await.unwrap();
    f.clock.pass(Duration::from_millis(3_999));
    assert_eq!(try_claim(&f, &run, counted(&run.call(0, 2), &two)).await, used_up());
    f.clock.pass(Duration::from_millis(1));
    try_claim(&f, &run, counted(&run.call(0, 2), &two)).await.unwrap();
    assert_eq!(try_claim(&f, &run, counted(&run.call(0, 3), &two)).await, used_up());
}

async fn a_further_attempt_counts_nothing_more(f: Fixture) {
    let run = f.create("run-a").await;
    let one = quota(Per::Subject, 1);
    try_claim(&f, &run, counted(&run.call(0, 0), &one)).await.unwrap();
    let call = run.call(0, 0);
    f.journal.reconcile(&run, &call, vec![found(&call, Finding::NotDone)]).await.unwrap();
    try_claim(&f, &run, Claim { attempt: 2, ..counted(&run.call(0, 0), &one) }).await.unwrap();
    assert_eq!(try_claim(&f, &run, counted(&run.call(0, 1), &one)).await, used_up());
}

async fn what_is_refused_leaves_nothing(f: Fixture) {
    let run = f.create("run-a").await;
    f.ask(&run, "apr-1").await;
    let before = f.everything(&run).await;
    let none = Claim { quotas: vec![quota(Per::Tenant, 0)], ..claim(&run.call(0, 0), 1, None) };
    assert_eq!(try_claim(&f, &run, none).await, used_up());
    // What is asked about counts nothing, either.
    assert_eq!(f.everything(&run).await, before);
    try_claim(&f, &run, counted(&run.call(0, 0), &quota(Per::Tenant, 1))).await.unwrap();
}

async fn many_at_once_are_counted_one_after_the_other(f: Fixture) {
    let mut tasks = Vec::new();
    for nth in 0..8 {
        let run = f.create(&format!("run-{nth}")).await;
        let journal = f.journal.clone();
        tasks.push(tokio::spawn(async move {
            let claim = counted(&run.call(0, 0), &quota(Per::Tenant, 3));
            journal.claim(&run, claim, vec![event("tool.started")]).await.map(drop)
        }));
    }
    let mut accepted = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(()) => accepted += 1,
            refused => assert_eq!(refused, used_up()),
        }
    }
    assert_eq!(accepted, 3);
}
