//! The way of a call that nobody disturbs, point by point: where its driver can die, and what stands there by then.

use lockgate::contract::failpoint::Point;

use crate::kill::{EFFECT_SENT, Spot};
use crate::scenario::{Crash, Played};

/// How far a call has come: the rows of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// The run does not exist.
    NoRun,
    /// The model's turn is not stored.
    NoTurn,
    /// The call is known, and there is no intent.
    NoIntent,
    /// A person was asked.
    Asked,
    /// A person said yes, and that is not used yet.
    Approved,
    /// Between the statements of the intent's transaction.
    InIntent,
    /// The intent stands, and the effect was not sent.
    Intended,
    /// The effect was sent, and there is no answer.
    Sent,
    /// There is an answer, and its result is nowhere.
    Answered,
    /// Between the statements of the result's transaction.
    InResult,
    /// The result stands, and the model was not asked again.
    Settled,
    /// The next turn, or the end.
    Next,
}

impl Progress {
    /// All of them, in order.
    pub const ALL: [Self; 12] = [
        Self::NoRun,
        Self::NoTurn,
        Self::NoIntent,
        Self::Asked,
        Self::Approved,
        Self::InIntent,
        Self::Intended,
        Self::Sent,
        Self::Answered,
        Self::InResult,
        Self::Settled,
        Self::Next,
    ];

    /// The head of its row.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoRun => "run not stored",
            Self::NoTurn => "model turn not stored",
            Self::NoIntent => "turn stored, no intent",
            Self::Asked => "question stored, nobody answered",
            Self::Approved => "approved, not used",
            Self::InIntent => "inside the intent's transaction",
            Self::Intended => "intent stored, effect not sent",
            Self::Sent => "effect sent, no answer",
            Self::Answered => "answered, result not stored",
            Self::InResult => "inside the result's transaction",
            Self::Settled => "result stored",
            Self::Next => "next turn, end",
        }
    }
}

/// A place where a driver dies, and how far its call has come there, where that is known beforehand.
#[derive(Debug, Clone)]
pub struct Position {
    /// The deaths, the last of which is here.
    pub crashes: Vec<Crash>,
    /// Where it is.
    pub point: String,
    /// How far the call has come.
    pub progress: Option<Progress>,
}

/// Every place on the way of a run that was played without a death.
pub fn undisturbed(played: &Played) -> Vec<Position> {
    let mut marks = Marks { progress: Progress::NoRun, commits: Progress::NoTurn };
    let mut positions = Vec::new();
    for (driver, driven) in played.drivers.iter().enumerate() {
        if driver > 0 && marks.progress == Progress::Asked {
            // Somebody said yes in between.
            marks.come_to(Progress::Approved);
        }
        for (point, hit) in numbered(&driven.passes) {
            let progress = Some(marks.pass(&point));
            let crashes = vec![Crash { driver, at: Spot::At(point.clone(), hit) }];
            positions.push(Position { crashes, point, progress });
        }
    }
    positions
}

/// Every place on the way of a run after its last death; of each driver and point the first time, which is where recovery
/// goes its own way.
pub fn afterwards(played: &Played) -> Vec<Position> {
    let first = played.crashes.iter().map(|crash| crash.driver + 1).max().unwrap_or(0);
    let mut positions = Vec::new();
    for (driver, driven) in played.drivers.iter().enumerate().skip(first) {
        for (point, hit) in numbered(&driven.passes).filter(|(_, hit)| *hit == 1) {
            let mut crashes = played.crashes.clone();
            crashes.push(Crash { driver, at: Spot::At(point.clone(), hit) });
            positions.push(Position { crashes, point, progress: None });
        }
    }
    positions
}

/// The points, each with how often it was there by then.
fn numbered(passes: &[String]) -> impl Iterator<Item = (String, u32)> {
    passes.iter().enumerate().map(|(at, point)| {
        let hit = passes[..=at].iter().filter(|other| *other == point).count();
        (point.clone(), u32::try_from(hit).unwrap_or(u32::MAX))
    })
}

/// What was seen on the way.
struct Marks {
    progress: Progress,
    /// What the next commit makes of it. A driver that dies at `journal.commit.after` has left the commit behind.
    commits: Progress,
}

impl Marks {
    /// Takes one more point in, and says how far the call has come with it.
    fn pass(&mut self, point: &str) -> Progress {
        let is = |known: Point| point == known.word();
        if is(Point::CommitAfter) {
            self.come_to(self.commits);
        } else if is(Point::TurnAnswered) {
            self.commits = Progress::NoIntent;
        } else if is(Point::AskApproval) {
            self.commits = Progress::Asked;
        } else if is(Point::ClaimLease) {
            self.come_to(Progress::InIntent);
            self.commits = Progress::Intended;
        } else if point == EFFECT_SENT {
            self.come_to(Progress::Sent);
        } else if is(Point::HandlerAfter) {
            self.come_to(Progress::Answered);
        } else if is(Point::SettleRead) {
            self.come_to(Progress::InResult);
            self.commits = Progress::Settled;
        } else if self.progress == Progress::Settled && (is(Point::TurnBefore) || is(Point::EndBefore)) {
            self.come_to(Progress::Next);
        }
        self.progress
    }

    /// It does not go back: a second turn is no first one.
    fn come_to(&mut self, progress: Progress) {
        self.progress = self.progress.max(progress);
    }
}
