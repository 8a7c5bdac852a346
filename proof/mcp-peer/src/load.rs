//! Many calls of one tool over HTTP, and what they cost: the time of each, and the CPU time and memory of the processes on the way.

#![expect(clippy::disallowed_methods, reason = "it measures time, and reads what the system says of processes")]

mod caller;
mod processes;

use std::time::{Duration, Instant};

use hyper::Uri;
use serde_json::json;

use crate::error::PeerError;
use crate::fixture::Era;
use caller::Caller;
use processes::Processes;

/// Calls a tool many times, and says what it cost as one line of JSON.
#[derive(clap::Args, Clone, Debug)]
pub struct Load {
    /// Where the server is.
    #[arg(long)]
    url: Uri,
    /// The tool, which has to say back its argument `text`.
    #[arg(long, default_value = "echo")]
    tool: String,
    /// How many call at the same time, each on a connection of its own.
    #[arg(long, default_value_t = 1)]
    callers: usize,
    /// How many calls they make together, after a tenth of them that is not measured.
    #[arg(long, default_value_t = 10_000)]
    calls: usize,
    /// The versions of the protocol to speak; both is the newer.
    #[arg(long, value_enum, default_value_t)]
    era: Era,
    /// Said to the server in `Authorization`.
    #[arg(long)]
    bearer: Option<String>,
    /// Processes whose CPU time and memory are measured together.
    #[arg(long)]
    watch: Vec<u32>,
}

impl Load {
    /// Makes the calls. A wrong answer is an error.
    pub async fn run(&self) -> Result<String, PeerError> {
        let mut callers = Vec::new();
        for _ in 0..self.callers.max(1) {
            callers.push(Caller::connect(self.url.clone(), self.era, self.bearer.as_deref()).await?);
        }
        let each = (self.calls / callers.len()).max(1);
        let (callers, _) = self.all(callers, each.div_ceil(10)).await?;
        let before = Processes::read(&self.watch)?;
        let begun = Instant::now();
        let (callers, mut times) = self.all(callers, each).await?;
        let took = begun.elapsed();
        let after = Processes::read(&self.watch)?;
        drop(callers);
        times.sort_unstable();
        let calls = times.len();
        let ms = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
        let at = |percent: usize| times.get((calls * percent / 100).min(calls - 1)).copied().unwrap_or_default();
        let per_call = after.cpu.saturating_sub(before.cpu) / u32::try_from(calls).unwrap_or(u32::MAX);
        Ok(json!({
            "callers": self.callers,
            "calls": calls,
            "calls_per_second": (f64::from(u32::try_from(calls).unwrap_or(u32::MAX)) / took.as_secs_f64()).round(),
            "p50_ms": ms(at(50)),
            "p99_ms": ms(at(99)),
            "cpu_ms_per_call": ms(per_call),
            "memory_mib": after.memory / 1024 / 1024,
            "peak_memory_mib": after.peak / 1024 / 1024,
        })
        .to_string())
    }

    /// Each caller makes so many calls, one after the other. Answers with the time of each.
    async fn all(&self, callers: Vec<Caller>, each: usize) -> Result<(Vec<Caller>, Vec<Duration>), PeerError> {
        let mut running = tokio::task::JoinSet::new();
        for mut caller in callers {
            let tool = self.tool.clone();
            running.spawn(async move {
                let mut times = Vec::with_capacity(each);
                for number in 0..each {
                    let begun = Instant::now();
                    caller.call(&tool, &format!("text {number}")).await?;
                    times.push(begun.elapsed());
                }
                Ok::<_, PeerError>((caller, times))
            });
        }
        let (mut callers, mut all) = (Vec::new(), Vec::new());
        while let Some(done) = running.join_next().await {
            let (caller, times) = done.map_err(PeerError::at("a caller"))??;
            callers.push(caller);
            all.extend(times);
        }
        Ok((callers, all))
    }
}
