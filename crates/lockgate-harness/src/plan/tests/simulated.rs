//! The machine against a world of chance: whatever a model asks for and whatever becomes of its calls, the run ends, and
//! ends in order.

use std::collections::BTreeSet;

use lockgate_contract::effect::OnUnknown;
use lockgate_contract::outcome::Code;
use lockgate_contract::ports::Message;
use lockgate_contract::run::{Budget, RunStatus};
use proptest::prelude::*;

use crate::plan::{Command, Planned};
use crate::sketch::{OPEN_FOR, Seen, Sketch, place, words};
use crate::state::RunState;
use crate::stop::Stop;

/// What becomes of a call that may start.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Succeeds,
    Reports,
    Breaks,
    TimesOut,
    Refused,
    Asks,
    /// The driver dies while the handler runs, or just before.
    Dies {
        started: bool,
    },
}

#[derive(Debug, Clone)]
struct World {
    turns: Vec<Vec<&'static str>>,
    fates: Vec<Fate>,
    decisions: Vec<&'static str>,
    budget: Budget,
    tell_model: bool,
    parallel_reads: usize,
    /// Cancelled at this command.
    cancelled_at: usize,
}

fn world() -> impl Strategy<Value = World> {
    let name = prop::sample::select(vec!["look", "look", "peek", "stat", "note", "put", "pay", "finish", "nosuch"]);
    let turns = prop::collection::vec(prop::collection::vec(name, 1..6), 0..5);
    let fate = prop_oneof![
        8 => Just(Fate::Succeeds),
        1 => Just(Fate::Reports),
        1 => Just(Fate::Breaks),
        1 => Just(Fate::TimesOut),
        2 => Just(Fate::Refused),
        3 => Just(Fate::Asks),
        1 => any::<bool>().prop_map(|started| Fate::Dies { started }),
    ];
    let decision = prop::sample::select(vec!["granted", "granted", "denied", "withdrawn", "refused", "late"]);
    let budget = (0..6u32, 0..12u32, 1..6u32).prop_map(|(steps, actions, calls)| Budget {
        max_steps: steps,
        max_valid_actions: actions,
        max_calls_per_turn: calls,
        ..Budget::default()
    });
    (
        turns,
        prop::collection::vec(fate, 40),
        prop::collection::vec(decision, 40),
        budget,
        any::<bool>(),
        0..5usize,
        prop_oneof![3 => Just(usize::MAX), 1 => 0..20usize],
    )
        .prop_map(|(turns, fates, decisions, budget, tell_model, parallel_reads, cancelled_at)| World {
            turns,
            fates,
            decisions,
            budget,
            tell_model,
            parallel_reads,
            cancelled_at,
        })
}

proptest! {
    #[test]
    fn every_run_ends_in_order(world in world()) {
        Driver::new(world).drive();
    }
}

struct Driver {
    world: World,
    run: Sketch,
    held: BTreeSet<u32>,
    /// Calls that were started and may not be started again.
    spent: BTreeSet<String>,
    fates: usize,
    decisions: usize,
}

impl Driver {
    fn new(world: World) -> Self {
        let run = Sketch::with(|start| {
            start.budget = world.budget.clone();
            start.on_unknown = if world.tell_model { OnUnknown::TellModel } else { OnUnknown::Stop };
        });
        Self { world, run, held: BTreeSet::new(), spent: BTreeSet::new(), fates: 0, decisions: 0 }
    }

    fn drive(&mut self) {
        for count in 0.. {
            assert!(count < 400, "it does not end: {:?}", self.world);
            let cancelled = count >= self.world.cancelled_at;
            let seen = Seen {
                cancelled,
                held: self.held.iter().copied().collect(),
                parallel_reads: self.world.parallel_reads,
                ..Seen::default()
            };
            match self.run.command(&seen) {
                Command::CallModel { step } => self.ask(step),
                Command::RunCalls(planned) => self.run_calls(&planned),
                Command::Settle(verdicts) => {
                    for verdict in verdicts {
                        self.run.fails(place(&verdict.planned.call.call_id), verdict.code);
                    }
                }
                command @ (Command::Reconcile(_) | Command::Wait(_)) => {
                    panic!("no tool of this world can be asked, and nothing is tried again: {command:?}")
                }
                Command::Stop(Stop::WaitingForApproval(approvals)) => {
                    assert!(!approvals.is_empty(), "it waits for nothing: {:?}", self.world);
                    self.run.stopped(Stop::WaitingForApproval(approvals));
                    self.wait();
                }
                Command::Stop(stop) => {
                    self.run.stopped(stop);
                }
                Command::Ended(stop) => return self.ended(&stop),
            }
        }
    }

    fn ask(&mut self, step: u32) {
        let state = self.run.state();
        assert_eq!(step as usize, state.turns().len());
        assert!(step < self.world.budget.max_steps);
        assert_paired(&state);
        self.held.clear();
        match self.world.turns.get(step as usize) {
            Some(names) => self.run.turn(names),
            None => self.run.says("That is all."),
        };
    }

    fn run_calls(&mut self, planned: &[Planned]) {
        self.assert_side_by_side(planned);
        let mut died = false;
        for planned in planned {
            let call = place(&planned.call.call_id);
            if let Some(limit) = planned.terms.over_limit {
                self.run.refused_by(call, limit);
                continue;
            }
            let fate = self.world.fates[self.fates % self.world.fates.len()];
            self.fates += 1;
            let approved = planned.terms.approval.is_some();
            match fate {
                Fate::Asks if !approved => {
                    self.run.requested(call).asked(call);
                    self.held.insert(call);
                }
                Fate::Refused => {
                    self.run.fails(call, Code::PolicyDenied);
                }
                _ if !planned.terms.may_start => {
                    self.held.insert(call);
                }
                _ if died => {}
                Fate::Dies { started } => {
                    if started {
                        self.start(planned);
                    }
                    died = true;
                }
                Fate::Succeeds | Fate::Asks => {
                    self.start(planned);
                    self.run.ok(call);
                }
                Fate::Reports => {
                    self.start(planned);
                    self.run.reports(call, "not_found");
                }
                Fate::Breaks => {
                    self.start(planned);
                    self.run.fails(call, Code::EnvironmentError);
                }
                Fate::TimesOut => {
                    self.start(planned);
                    self.run.fails(call, Code::TimedOut);
                }
            }
        }
        if died {
            self.held.clear();
            self.run.pass(1000).resumed(None);
        }
    }

    fn start(&mut self, planned: &Planned) {
        let call = &planned.call;
        let repeatable = ["look", "peek", "stat", "put"].contains(&call.tool_name.as_str());
        assert!(
            repeatable || self.spent.insert(call.call_id.to_string()),
            "{} is started twice: {:?}",
            call.call_id,
            self.world
        );
        self.run.attempted(place(&call.call_id), planned.terms.attempt);
    }

    /// A person decides about every open question, in their own way, and somebody resumes the run.
    fn wait(&mut self) {
        let turn = self.run.state().turns().last().cloned().unwrap();
        let undecided = turn
            .calls
            .iter()
            .zip(0..)
            .filter(|(call, _)| call.settled.is_none() && call.approval.as_ref().is_some_and(|open| !open.decided));
        for (_, call) in undecided {
            let decision = self.world.decisions[self.decisions % self.world.decisions.len()];
            self.decisions += 1;
            if decision == "late" {
                self.run.pass(OPEN_FOR);
            } else {
                self.run.decided(call, decision);
            }
        }
        self.held.clear();
        self.run.resumed(None);
    }

    /// Calls side by side only read, share nothing, and stand together.
    fn assert_side_by_side(&self, planned: &[Planned]) {
        let state = self.run.state();
        let places: Vec<u32> = planned.iter().map(|planned| place(&planned.call.call_id)).collect();
        let first = places[0];
        assert!(places.iter().copied().eq((first..).take(places.len())), "{places:?}");
        let turn = state.turns().last().unwrap();
        let before = &turn.calls[..first as usize];
        let may_start = planned[0].terms.may_start;
        assert!(!may_start || before.iter().all(|call| call.settled.is_some()), "{:?}", self.world);
        if planned.len() > 1 {
            assert!(may_start);
            assert!(planned.len() <= self.world.parallel_reads);
            let left = self.world.budget.max_valid_actions - state.valid_actions();
            assert!(planned.len() <= left as usize || planned.iter().all(|planned| planned.terms.over_limit.is_some()));
            let mut names: Vec<&str> = planned.iter().map(|planned| planned.call.tool_name.as_str()).collect();
            names.retain(|name| *name != "look");
            assert!(names.len() <= 1, "{names:?} share a resource or change something"); // S-18
            assert!(names.iter().all(|name| ["peek", "stat"].contains(name)));
        }
    }

    fn ended(&self, stop: &Stop) {
        let state = self.run.state();
        assert_ne!(stop.status(), RunStatus::WaitingForApproval);
        assert!(state.calls().all(|call| call.settled.is_some()), "a call is open: {:?}", self.world);
        assert!(state.valid_actions() <= self.world.budget.max_valid_actions);
        assert_paired(&state);
        for count in 1..=self.run.events.len() {
            RunState::fold(&self.run.events[..count]).unwrap(); // architecture rule 5
        }
        let again = words(&self.run.command(&Seen::default()));
        assert!(again.starts_with("ended"), "{again}");
    }
}

/// Every call of the history is followed by its one result, in request order, before anything else is said.
fn assert_paired(state: &RunState) {
    let mut open = Vec::new().into_iter();
    for message in state.messages() {
        match message {
            Message::Tool { call_id, .. } => assert_eq!(Some(call_id), open.next()),
            Message::Assistant { calls, .. } => {
                assert_eq!(open.next(), None);
                open = calls.into_iter().map(|call| call.call_id).collect::<Vec<_>>().into_iter();
            }
            Message::System { .. } | Message::User { .. } => assert_eq!(open.next(), None),
        }
    }
    assert_eq!(open.next(), None);
}
