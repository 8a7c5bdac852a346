//! Requests, yeses of several people, edits, denials, expiries, crashes and resumes in any order: a handler runs only with
//! enough live yeses, of different people who may, bound to exactly what ran (R-173).

use std::collections::BTreeSet;
use std::sync::Arc;

use lockgate_contract::approval::{ApprovalState, Proof};
use lockgate_contract::arguments::Arguments;
use lockgate_contract::document::Limits;
use lockgate_contract::ids::{ApprovalId, RunId};
use lockgate_contract::ports::{Decision, Obligations};
use lockgate_contract::subject::Subject;
use lockgate_contract::time::Timestamp;
use lockgate_harness::check;
use proptest::prelude::*;

use super::script::{block_on, first, runs};
use crate::approvers::{Scripted, arguments, finance};
use crate::bench::{Bench, OPEN_FOR};
use crate::crashes::until_the_power_fails;
use crate::journals::{Fault, Faulty};
use crate::model::{calls, says};

/// Something that happens.
#[derive(Debug, Clone)]
enum Deed {
    /// Somebody says something about a question.
    Says { question: usize, who: usize, answer: ApprovalState, role: bool, proof: bool, edit: Option<u32> },
    /// The process goes on, and its power fails at some commit, or never.
    GoesOn(Option<(bool, usize)>),
    /// So many tenths of the time that a question stays open.
    Passes(u32),
}

const PEOPLE: [&str; 6] = ["bob", "carol", "dora", "Bob", "local", "agent"];

fn deed() -> impl Strategy<Value = Deed> {
    let answer = prop_oneof![
        12 => Just(ApprovalState::Granted),
        1 => Just(ApprovalState::Denied),
        1 => Just(ApprovalState::Withdrawn),
    ];
    let says = (0..6usize, 0..PEOPLE.len(), answer, prop::bool::weighted(0.9), prop::bool::weighted(0.9));
    let edit = prop_oneof![4 => Just(None), 1 => (0..4u32).prop_map(Some)];
    prop_oneof![
        8 => (says, edit).prop_map(|((question, who, answer, role, proof), edit)| Deed::Says {
            question, who, answer, role, proof, edit,
        }),
        3 => prop::option::of((any::<bool>(), 1..8usize)).prop_map(Deed::GoesOn),
        1 => (1..6u32).prop_map(Deed::Passes),
    ]
}

/// What somebody said who may, by the test's own account: about which question, who, and when.
struct Account {
    needed: usize,
    yeses: Vec<(ApprovalId, String)>,
}

impl Account {
    /// How many different people said yes to this question.
    fn people(&self, question: &ApprovalId) -> usize {
        let names: BTreeSet<String> =
            self.yeses.iter().filter(|(id, _)| id == question).map(|(_, who)| who.to_lowercase()).collect();
        names.len()
    }
}

proptest! {
    #![proptest_config(runs())]

    #[test]
    fn nothing_runs_without_enough_yeses_to_exactly_that(
        count in 1..4u32,
        numbers in prop::collection::vec(0..3u32, 1..4),
        deeds in prop::collection::vec(deed(), 1..40),
    ) {
        block_on(async {
            let texts: Vec<String> = numbers.iter().map(|n| format!(r#"{{"do":"ok","n":{n}}}"#)).collect();
            let named: Vec<(&str, &str)> = texts.iter().map(|text| ("pay", text.as_str())).collect();
            let mut bench = Bench::new([calls(&named), says("Done.")]);
            bench.policy = Scripted::new(Obligations { approvers: Some(finance(count)), ..Obligations::default() });
            let disk = Arc::clone(&bench.journal);
            let mut account = Account { needed: count as usize, yeses: Vec::new() };
            until_the_power_fails(&bench, None).await;
            let run = first();
            for deed in &deeds {
                match deed {
                    Deed::GoesOn(power) => {
                        let fault = match power {
                            Some((true, number)) => Fault::Dead(*number),
                            Some((false, number)) => Fault::DeadAfter(*number),
                            None => Fault::Slow,
                        };
                        bench = bench.restarted(Faulty::new(&disk, fault));
                        until_the_power_fails(&bench, Some(&run)).await;
                        bench = bench.restarted(Arc::clone(&disk));
                    }
                    Deed::Passes(tenths) => bench.clock.pass(OPEN_FOR / 10 * *tenths),
                    Deed::Says { question, who, answer, role, proof, edit } => {
                        let known = bench.approvals(&run).await;
                        let Some(question) = known.get(question % known.len().max(1)) else { continue };
                        let decision = Decision {
                            roles: if *role { vec!["finance".to_owned()] } else { Vec::new() },
                            proof: if *proof { Proof::OsUser } else { Proof::Claimed },
                            edit: edit.map(|n| arguments(&format!(r#"{{"do":"ok","n":{n}}}"#)))
                                .filter(|_| *answer == ApprovalState::Granted),
                            ..Decision::new(question.approval_id.clone(), *answer, PEOPLE[*who])
                        };
                        let subject = Subject::default();
                        let own = PEOPLE[*who] == subject.user || PEOPLE[*who] == subject.agent;
                        let may = *role && *proof && !own;
                        let Ok(standing) = bench.runner().gate().decide(decision).await else { continue };
                        if *answer == ApprovalState::Granted {
                            assert!(may, "{deed:?}");
                            account.yeses.push((standing.approval_id, PEOPLE[*who].to_owned()));
                        }
                    }
                }
                assert_accounted_for(&bench, &run, &account).await;
            }
        });
    }
}

/// Each time that the handler was entered was under a question of its own, about exactly these arguments, which enough
/// people had said yes to and which was live.
async fn assert_accounted_for(bench: &Bench, run: &RunId, account: &Account) {
    let events = bench.events(run).await;
    assert_eq!(check::events(&events), []);
    let asked = bench.approvals(run).await;
    let mut used: Vec<_> = asked.iter().filter(|question| question.state == ApprovalState::Consumed).collect();
    for entry in bench.world.entries() {
        let entered = Arguments::parse(&entry.arguments, Limits::ARGUMENTS).unwrap().digest();
        let place = used.iter().position(|question| question.arguments_digest == entered);
        let question = used.remove(place.expect("it ran under no question"));
        assert!(account.people(&question.approval_id) >= account.needed, "{question:?}");
        assert!(question.consumed_at.unwrap_or(Timestamp::from_millis(i64::MAX)) < question.expires_at, "{question:?}");
        assert!(question.is_enough_for(question.approvers.as_ref().unwrap()));
    }
    for (call, count) in bench.world.entries_of_effects() {
        assert_eq!(count, 1, "{call}"); // R-128
    }
}
