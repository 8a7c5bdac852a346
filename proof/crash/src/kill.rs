//! How a driver dies: a callback on the points of the product that sends a signal to its own process.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use lockgate::contract::failpoint::Point;
use rustix::process::{Signal, getpid, kill_process};

use crate::CrashError;

/// The one point that is not the product's: the tool has sent its request, and has no answer.
pub const EFFECT_SENT: &str = "tool.effect.sent";

/// Says that the tool is there.
pub(crate) fn reach_effect_sent() {
    fail::fail_point!(EFFECT_SENT);
}

/// Every point at which a driver can die.
pub fn points() -> impl Iterator<Item = &'static str> {
    Point::ALL.iter().map(|point| point.word()).chain([EFFECT_SENT])
}

/// Where a driver dies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// The n-th time that it comes to this point.
    At(String, u32),
    /// The n-th time that it comes to any point.
    Any(u32),
}

impl fmt::Display for Spot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(point, hit) => write!(formatter, "{point}:{hit}"),
            Self::Any(hit) => write!(formatter, "any:{hit}"),
        }
    }
}

impl FromStr for Spot {
    type Err = CrashError;

    fn from_str(text: &str) -> Result<Self, CrashError> {
        let (point, hit) = text.split_once(':').ok_or_else(|| CrashError::new(text, "it is not `POINT:N`"))?;
        let hit = hit.parse().map_err(|error| CrashError::new(text, error))?;
        if point == "any" {
            Ok(Self::Any(hit))
        } else if points().any(|known| known == point) {
            Ok(Self::At(point.to_owned(), hit))
        } else {
            Err(CrashError::new(text, "there is no such point"))
        }
    }
}

/// What happens there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Stopping {
    /// The process dies.
    Kill,
    /// The process stands still until somebody lets it go on.
    Freeze,
}

/// Watches every point, says on stdout which were passed (`pass POINT`), and dies where it should. To be called once.
pub fn arm(spot: Option<&Spot>, stopping: Stopping) -> Result<(), CrashError> {
    let passes = Arc::new(Mutex::new(Passes::default()));
    for point in points() {
        let (passes, spot) = (Arc::clone(&passes), spot.cloned());
        let reached = move || {
            // Held while the process dies, so that no other thread comes to a point after this one.
            let mut passes = passes.lock().unwrap_or_else(PoisonError::into_inner);
            say(&format!("pass {point}"));
            if passes.count(point, spot.as_ref()) {
                stop(stopping);
            }
        };
        fail::cfg_callback(point, reached).map_err(|error| CrashError::new(point, error))?;
    }
    Ok(())
}

fn stop(stopping: Stopping) {
    let signal = match stopping {
        Stopping::Kill => Signal::KILL,
        Stopping::Freeze => Signal::STOP,
    };
    // Of a signal that cannot be sent, the orchestrator notices that nobody died.
    let _ = kill_process(getpid(), signal);
}

/// Writes a line at once: what was said before a death counts.
pub(crate) fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(format!("{line}\n").as_bytes());
    let _ = stdout.flush();
}

/// How often each point was passed.
#[derive(Default)]
struct Passes {
    each: BTreeMap<&'static str, u32>,
    all: u32,
}

impl Passes {
    /// Counts one, and says whether it is the spot.
    fn count(&mut self, point: &'static str, spot: Option<&Spot>) -> bool {
        let each = self.each.entry(point).or_default();
        *each += 1;
        self.all += 1;
        match spot {
            Some(Spot::At(wanted, hit)) => wanted == point && *hit == *each,
            Some(Spot::Any(hit)) => *hit == self.all,
            None => false,
        }
    }
}
