//! The judge: what must hold after any scenario, and what a scenario must have come to.

use std::fmt;

use lockgate::contract::event::{Body, Event, EventType};
use lockgate::harness::{RunState, check};

use crate::bench::Driven;
use crate::case::{Case, Replay};
use crate::counter::Entry;
use crate::path::Progress;
use crate::scenario::Played;

/// What became of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It has its result, and the run is complete.
    Done,
    /// Nobody knows, and the run says so.
    Unknown,
    /// Nothing happened, and nobody waits for it.
    Cancelled,
    /// The journal could not be reached before anything happened, and the model was told so.
    Refused,
    /// Something that no scenario may come to.
    Other,
}

/// How the run and the world stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// What became of the call.
    pub outcome: Outcome,
    /// The run's stop state and the call's code, for people.
    pub words: String,
    /// How often the effect happened.
    pub effects: usize,
    /// What came to the server.
    pub log: Vec<Entry>,
}

impl End {
    /// Reads it off the journal's events and the server's log.
    pub fn of(events: &[Event], log: &[Entry]) -> Self {
        let effects = log.iter().filter(|entry| entry.performed).count();
        let end = |outcome, words| Self { outcome, words, effects, log: log.to_vec() };
        let state = match RunState::fold(events) {
            Ok(state) => state,
            Err(error) => return end(Outcome::Other, error.to_string()),
        };
        let status = state.stop().map_or("no stop", |stop| stop.status().word());
        let code = match state.calls().next().map(|call| call.settled.as_ref()) {
            None => "no call",
            Some(None) => "open",
            Some(Some(settled)) => settled.code.as_ref().map_or("ok", |code| code.word()),
        };
        let outcome = match (status, code) {
            ("completed", "ok") => Outcome::Done,
            ("needs_reconciliation", "outcome_unknown") => Outcome::Unknown,
            ("completed", "storage_unavailable") => Outcome::Refused,
            ("cancelled", "cancelled" | "no call") => Outcome::Cancelled,
            _ => Outcome::Other,
        };
        end(outcome, format!("{status}, {code}"))
    }
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({} effects)", self.words, self.effects)
    }
}

/// What does not hold after a scenario in which drivers die, and nothing else goes wrong; `progress` is how far its one death
/// let the call come, where that is known.
pub fn faults(played: &Played, progress: Option<Progress>) -> Vec<String> {
    let gave_up = |driver: &Driven| driver.error.as_ref().map(|error| format!("a driver gave up: {error}"));
    let mut faults: Vec<String> = played.drivers.iter().filter_map(gave_up).collect();
    faults.extend(broken(played));
    let recovered = played.recovered.as_ref().unwrap_or(&played.end);
    if recovered.outcome == Outcome::Refused {
        faults.push("the journal was there all the time".to_owned());
    }
    if let Some((outcome, effects)) = progress.map(|progress| expected(played.case, progress))
        && (recovered.outcome, recovered.effects) != (outcome, effects)
    {
        faults.push(format!("it came to {recovered}, and should have come to {outcome:?} with {effects} effects"));
    }
    faults
}

/// The invariants that do not hold, whatever went wrong.
pub fn broken(played: &Played) -> Vec<String> {
    let mut faults = Vec::new();
    let case = played.case;
    for (number, driver) in played.drivers.iter().enumerate() {
        for (seq, kind) in &driver.acknowledged {
            let kept = usize::try_from(*seq).ok().and_then(|seq| played.events.get(seq.checked_sub(1)?));
            if kept.is_none_or(|event| event.seq != *seq || event.kind.word() != kind) {
                faults.push(format!("driver {number} was told of event {seq} `{kind}`, and it is not in the journal"));
            }
        }
    }
    faults.extend(check::events(&played.events).into_iter().map(|defect| format!("journal: {}", defect.text)));
    let recovered = played.recovered.as_ref().unwrap_or(&played.end);
    faults.extend(of_recovery(case, recovered, played));
    faults.extend(of_the_end(case, played));
    faults.extend(of_epochs(&played.events));
    faults
}

/// What recovery may come to by itself, whoever died where.
fn of_recovery(case: Case, end: &End, played: &Played) -> Vec<String> {
    let deaths = played.drivers.iter().filter(|driver| driver.died || driver.error.is_some()).count();
    let most = if case.replay() == Replay::Repeats { 1 + deaths } else { 1 };
    let mut faults = Vec::new();
    match end.outcome {
        Outcome::Done if end.effects == 0 => faults.push(format!("done without an effect: {end}")),
        Outcome::Done => {}
        Outcome::Unknown if case.replay() == Replay::Never => {}
        Outcome::Cancelled if case == Case::Direct && end.effects == 0 => {}
        Outcome::Refused if end.effects == 0 => {}
        _ => faults.push(format!("it may not come to {end}")),
    }
    if end.effects > most {
        faults.push(format!("{} effects, and at most {most} are allowed", end.effects));
    }
    faults
}

/// What must hold when everything is over: a person has settled what nobody knew.
fn of_the_end(case: Case, played: &Played) -> Vec<String> {
    let (end, mut faults) = (&played.end, Vec::new());
    let count = |kind: EventType| played.events.iter().filter(|event| event.kind == kind).count();
    match (end.outcome, case) {
        (Outcome::Done, _) if case.replay() == Replay::Repeats || end.effects == 1 => {}
        (Outcome::Cancelled, Case::Direct) | (Outcome::Refused, _) if end.effects == 0 => {}
        _ => faults.push(format!("it may not end as {end}")),
    }
    let keys: Vec<&str> = end.log.iter().map(|entry| &*entry.key).collect();
    if keys.windows(2).any(|keys| keys[0] != keys[1]) {
        faults.push("its attempts came with different keys".to_owned());
    }
    if case.asks() && end.effects > 0 && count(EventType::ApprovalConsumed) == 0 {
        faults.push("there is an effect, and no approval was used".to_owned());
    }
    if end.outcome == Outcome::Done && count(EventType::RunCompleted) != 1 {
        faults.push(format!("the run completed {} times", count(EventType::RunCompleted)));
    }
    faults
}

/// One owner at a time: every driver has a higher epoch than those before it.
fn of_epochs(events: &[Event]) -> Option<String> {
    let epoch = |event: &Event| match event.body() {
        Ok(Body::RunLeaseTaken(taken)) => Some(taken.epoch),
        _ => None,
    };
    let epochs: Vec<u64> = events.iter().filter_map(epoch).collect();
    let rise = epochs.iter().zip(2..).all(|(epoch, next)| *epoch == next);
    (!rise).then(|| format!("its drivers had the epochs {epochs:?} after the first"))
}

/// The cell of the matrix: what recovery must come to after one death.
pub fn expected(case: Case, progress: Progress) -> (Outcome, usize) {
    use Progress::{
        Answered, Approved, Asked, InIntent, InResult, Intended, Next, NoIntent, NoRun, NoTurn, Sent, Settled,
    };
    let lost = |known: usize| match case.replay() {
        Replay::Never => (Outcome::Unknown, known),
        Replay::Repeats => (Outcome::Done, 1 + known),
        Replay::Keyed | Replay::Probed => (Outcome::Done, 1),
    };
    match progress {
        Intended => lost(0),
        Sent | Answered | InResult => lost(1),
        // Nobody waits for a direct call whose caller is gone.
        NoTurn | NoIntent | Asked | Approved | InIntent if case == Case::Direct => (Outcome::Cancelled, 0),
        NoRun | NoTurn | NoIntent | Asked | Approved | InIntent | Settled | Next => (Outcome::Done, 1),
    }
}
