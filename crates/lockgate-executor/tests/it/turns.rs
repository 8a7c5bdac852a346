//! Several calls of one turn side by side (R-218…R-220, R-230).

use std::time::Duration;

use lockgate_contract::effect::Effect;
use lockgate_contract::tool::Output;

use crate::bench::{EFFECTS, Setup, code, settlement, tool, with_handler};

#[tokio::test(start_paused = true)]
async fn each_result_belongs_to_its_call_in_whatever_order_they_end() {
    let bench = Setup::new(|counters| {
        let spec = |effect| {
            with_handler(tool(counters, effect), counters, |arguments, _| async move {
                let number: u64 = arguments.root().get("n").unwrap().decode().unwrap();
                tokio::time::sleep(Duration::from_secs(20 - number)).await; // The last one ends first.
                Ok(Output::of(&number))
            })
        };
        EFFECTS.map(spec).into()
    })
    .build()
    .await;
    let requests: Vec<_> =
        (0..12).map(|number| bench.request(EFFECTS[number % 3].word(), &format!(r#"{{"n":{number}}}"#))).collect();
    let released = futures_util::future::join_all(requests.iter().map(|request| bench.send(request))).await;
    for (number, (request, released)) in requests.iter().zip(released).enumerate() {
        let settlement = settlement(released);
        assert_eq!(settlement.result().call_id, request.call.call_id); // R-218, R-219
        assert_eq!(settlement.result().data.as_ref().unwrap().text(), number.to_string());
        assert_eq!(bench.ending(&request.call.call_id).await.data.unwrap().text(), number.to_string());
    }
    let events = bench.events().await;
    let finished: Vec<_> =
        events.iter().filter(|event| event.kind.word() == "tool.finished").map(|event| &event.call_id).collect();
    let requested: Vec<_> = requests.iter().rev().map(|request| Some(request.call.call_id.clone())).collect();
    assert_eq!(finished, requested.iter().collect::<Vec<_>>()); // R-220, R-230
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (2..=37).collect::<Vec<_>>()); // R-209
    let seen: Vec<u64> = bench.seen.lock().unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(seen, numbers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_call_from_many_threads_runs_once() {
    let bench = std::sync::Arc::new(
        Setup::new(|counters| {
            vec![with_handler(tool(counters, Effect::External), counters, |_, _| async {
                tokio::task::yield_now().await;
                Ok(Output::of("sent"))
            })]
        })
        .build()
        .await,
    );
    for _ in 0..50 {
        let before = bench.handler_count();
        let request = bench.request("external", "{}");
        let calls = (0..8).map(|_| {
            let (bench, request) = (std::sync::Arc::clone(&bench), request.clone());
            tokio::spawn(async move { settlement(bench.send(&request).await) })
        });
        let settlements = futures_util::future::join_all(calls).await;
        assert_eq!(bench.handler_count(), before + 1); // R-128
        // Whoever comes too late says that the outcome is unknown; the result of the one who ran it stands all the same,
        // first (R-212) or as what became of it.
        let codes: Vec<String> = settlements.into_iter().map(|settled| code(&settled.unwrap()).to_owned()).collect();
        assert!(codes.iter().any(|code| code == "ok"), "{codes:?}");
        assert!(codes.iter().all(|code| code == "ok" || code == "outcome_unknown"), "{codes:?}");
        let endings = ["tool.finished", "tool.failed", "call.reconciled"];
        let events = bench.events().await;
        let of_call = events.iter().filter(|event| event.call_id.as_ref() == Some(&request.call.call_id));
        let ended: Vec<&str> = of_call.map(|event| event.kind.word()).filter(|kind| endings.contains(kind)).collect();
        assert!(ended == ["tool.finished"] || ended == ["tool.failed", "call.reconciled"], "{ended:?}");
    }
}

#[tokio::test]
async fn a_key_is_stable_over_attempts_and_nobody_elses() {
    let keys = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = std::sync::Arc::clone(&keys);
    let mut bench = Setup::new(move |counters| {
        vec![with_handler(
            tool(counters, Effect::Read),
            counters,
            move |_, context: lockgate_contract::tool::ToolContext| {
                noted.lock().unwrap().push(context.idempotency_key.to_string());
                async { Ok(Output::of(&1)) }
            },
        )]
    })
    .build()
    .await;
    let mut request = bench.request("read", "{}");
    bench.send(&request).await;
    request.terms.attempt = 2;
    bench.send(&request).await;
    bench.call("read").await;
    let other = lockgate_contract::subject::Subject { tenant: "other".to_owned(), ..Default::default() };
    bench.scope.subject = std::sync::Arc::new(other);
    bench.send(&request).await;
    let keys = keys.lock().unwrap();
    assert_eq!(keys[0], keys[1]); // C-16
    assert_ne!(keys[0], keys[2]);
    assert_ne!(keys[0], keys[3]); // S-30
    assert!(keys.iter().all(|key| key.starts_with("lg-") && key.len() == 35), "{keys:?}");
    assert!(!keys.iter().any(|key| key.contains("run-"))); // S-29: no credential, no id to be read from it
}
