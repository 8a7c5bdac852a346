//! Threads that change the registry while others read it.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Sets `stop` at the end of a test, also when it ends by a failed assertion, so that no thread waits for ever.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_list_is_of_one_moment() {
    // The writer takes `a` before `b` and gives `b` back before `a`: there is no moment with `a` and without `b`.
    let registry = registry(&["a", "b"]);
    let allowed = bound(&registry);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                assert!(registry.revoke("a"));
                assert!(registry.revoke("b"));
                registry.register(spec("b")).unwrap();
                registry.register(spec("a")).unwrap();
            }
        });
        let _stop = Stop(&stop);
        for _ in 0..20_000 {
            let model = registry.describe();
            let lists = [
                registry.names(),
                registry.definitions(&allowed).into_iter().map(|tool| tool.name).collect(),
                model.internal.iter().map(|view| view.name.clone()).collect(),
                registry.tools().iter().map(|tool| tool.spec().name().to_owned()).collect(),
            ];
            for list in lists {
                assert!(list.is_empty() || list == ["b"] || list == ["a", "b"], "{list:?}");
            }
            assert_eq!(model.model.len(), model.internal.len());
        }
    });
}

#[test]
fn a_call_resolves_to_the_old_or_the_new_and_nothing_between() {
    let registry = registry(&["read"]);
    let old = bound(&registry);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                registry.replace(version("read", &format!("next-{round}")), ReplacementRule::Migrate).unwrap();
                registry.replace(version("read", "1.0"), ReplacementRule::Migrate).unwrap();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let _stop = Stop(&stop);
        for _ in 0..20_000 {
            let tool = registry.resolve("read", &old).expect("the run migrates each time");
            assert!(tool.spec().version() == "1.0" || tool.spec().version().starts_with("next-"));
            let run = bound(&registry);
            assert!(registry.resolve("read", &run).is_ok());
        }
    });
}

#[test]
fn of_many_registrations_of_one_name_one_wins() {
    let registry = Registry::default();
    let won: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let registry = &registry;
                scope.spawn(move || {
                    let spec = tool("read").source(format!("source-{thread}")).build().unwrap();
                    usize::from(registry.register(spec).is_ok())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 1);
    let registered: Vec<_> =
        registry.changes().into_iter().filter(|change| matches!(change, Change::Registered { .. })).collect();
    let [Change::Registered { definition, .. }] = &registered[..] else { panic!("{registered:?}") };
    assert_eq!(registry.get("read").unwrap().spec().definition(), *definition);
    assert_eq!(registry.changes().len(), 8);
}

#[test]
fn no_tool_without_a_handler_slips_in_beside_an_executor() {
    for round in 0..200 {
        let registry = Arc::new(registry(&["a"]));
        let name = format!("b{round}");
        let (executor, registered) = std::thread::scope(|scope| {
            let executor = scope.spawn(|| registry.executor());
            let registered = registry.register(without_handler(&name).build().unwrap());
            (executor.join().unwrap(), registered)
        });
        assert_ne!(executor.is_ok(), registered.is_ok());
    }
}
