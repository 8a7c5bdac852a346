//! The one task that a server has: it starts it, lists what it offers, hears what it says, and starts it again when it is lost.
//!
//! ```text
//! configured ─► starting ─► ready ──(lost)──► failed ─► starting …   with growing pauses, within a budget
//!                  │          │
//!                  ▼          ▼
//!               failed    quarantined: it is not what it was configured to be, and is left alone
//! ```

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use lockgate_contract::document::Document;
use lockgate_contract::tool::ToolSpec;
use tokio::time::{Instant, sleep, timeout};

use super::beside::besides_of;
use super::heard::{Heard, hearing};
use super::link::Link;
use super::server::{Lists, Said, Upstream, locked};
use super::settings::Identity;
use super::status::Condition;
use super::tools::tools_of;
use crate::client::{ClientError, Event, List, Listener, ServerFacts};

/// Doubtful things that are kept.
const MOST_WARNINGS: usize = 8;
/// The first pause, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));
/// After so long, what went wrong before no longer counts.
const STEADY: Duration = Duration::from_mins(1);
/// What restarts are counted in.
const WINDOW: Duration = Duration::from_hours(1);
/// How long a lost connection may take to be closed.
const TO_CLOSE: Duration = Duration::from_secs(10);
/// Changes that come together are looked at together.
const TOGETHER: Duration = Duration::from_millis(50);
/// Its lists are not read more often.
const SELDOM: Duration = Duration::from_secs(1);

/// Why a start led to nothing.
enum NoStart {
    /// It may do so another time.
    Failed(String),
    /// It would not.
    Quarantined(String),
}

/// Looks after a server until it is stopped.
pub(super) async fn supervise(upstream: Arc<Upstream>) {
    let (mut failures, mut restarts) = (0, VecDeque::new());
    while !upstream.stop.is_cancelled() {
        upstream.starts();
        let (listener, heard) = hearing();
        let started = tokio::select! {
            () = upstream.stop.cancelled() => break,
            started = start(&upstream, listener) => started,
        };
        let since = Instant::now();
        let why = match started {
            Ok(link) => {
                let why = attend(&upstream, &*link, heard).await;
                if why.is_some() {
                    locked(&upstream.shared).take();
                    // What is left of it goes too, such as a process that no longer answers.
                    drop(timeout(TO_CLOSE, link.close()).await);
                }
                why
            }
            Err(NoStart::Failed(why)) => Some(why),
            Err(NoStart::Quarantined(why)) => {
                let changed = upstream.replace(Lists::default());
                put(&upstream, Vec::new()).await;
                upstream.status.send_modify(|status| {
                    status.tools = 0;
                    status.quarantined.clear();
                });
                upstream.becomes(Condition::Quarantined, Some(why));
                upstream.changed(changed);
                upstream.stop.cancelled().await;
                break;
            }
        };
        // Without a reason it was told to stop.
        let Some(why) = why else { break };
        failures = if since.elapsed() > STEADY { 1 } else { failures + 1 };
        let rest = rest_after(&upstream, failures, &mut restarts, why);
        tokio::select! {
            () = upstream.stop.cancelled() => break,
            () = sleep(rest) => {}
        }
        upstream.status.send_modify(|status| status.restarts += 1);
    }
    upstream.close().await;
}

/// One start: connect, look who it is, take its lists in.
async fn start(upstream: &Arc<Upstream>, listener: Arc<dyn Listener>) -> Result<Arc<dyn Link>, NoStart> {
    let settings = upstream.settings();
    let all = async {
        let link =
            upstream.parts.dial.dial(settings, &Identity::Shared, listener, &upstream.parts.confidant).await.map_err(
                |error| match error {
                    ClientError::Unauthorized { .. } if settings.login.is_some() => {
                        let name = &settings.name;
                        NoStart::Failed(format!(
                            "auth_required: nobody is logged in: `lockgate mcp login {name}` does that"
                        ))
                    }
                    ClientError::Unauthorized { .. } => {
                        NoStart::Failed("auth_required: it does not take the credential".to_owned())
                    }
                    error => NoStart::Failed(error.to_string()),
                },
            )?;
        let taken_in = match who_it_is(&link, settings.version.as_deref()) {
            Ok(()) => take_in(upstream, &*link).await,
            Err(another) => Err(another),
        };
        match taken_in {
            Ok(changed) => Ok((link, changed)),
            Err(error) => {
                link.close().await;
                Err(error)
            }
        }
    };
    let within = settings.start_timeout;
    let started = timeout(within, all).await;
    let started = started.unwrap_or_else(|_| Err(NoStart::Failed(format!("it was not ready within {within:?}"))));
    let (link, changed) = started?;
    *locked(&upstream.shared) = Some(Arc::clone(&link));
    upstream.status.send_modify(|status| status.protocol = Some(link.server().version.word()));
    upstream.becomes(Condition::Ready, None);
    upstream.watch_all_again();
    // Whoever listed something before would hold it for what there is: a server that was started anew says nothing of it.
    upstream.changed(changed);
    Ok(link)
}

/// Whether it is of the version that it was configured to have.
fn who_it_is(link: &Arc<dyn Link>, pinned: Option<&str>) -> Result<(), NoStart> {
    let Some(pinned) = pinned else { return Ok(()) };
    let info = link.server().info.as_ref();
    let said = info.and_then(|info| info.root().get("version")?.as_str().map(std::borrow::Cow::into_owned));
    match said {
        Some(said) if said == pinned => Ok(()),
        said => {
            let said = said.map_or("no version".to_owned(), |said| format!("version `{}`", shortened(&said)));
            Err(NoStart::Quarantined(format!("it says that it has {said}, and `version` is `{pinned}`")))
        }
    }
}

/// Lists everything that it offers, and offers the tools. Answers with the lists that are others than before.
async fn take_in(upstream: &Arc<Upstream>, link: &dyn Link) -> Result<Vec<List>, NoStart> {
    let facts = link.server().clone();
    let offers = |what: &str| facts.capabilities.root().get(what).is_some();
    let mut warnings = Vec::new();
    let tools = if offers("tools") {
        let listing = link.list(List::Tools).await.map_err(|error| NoStart::Failed(format!("its tools: {error}")))?;
        warnings.extend(listing.warnings);
        listing.items
    } else {
        Vec::new()
    };
    let mut lists = Lists { facts: Some(facts.clone()), ttl_ms: u64::MAX, ..Lists::default() };
    for (list, capability) in
        [(List::Resources, "resources"), (List::ResourceTemplates, "resources"), (List::Prompts, "prompts")]
    {
        if !offers(capability) {
            continue;
        }
        match link.list(list).await {
            Ok(listing) => {
                warnings.extend(listing.warnings);
                lists.ttl_ms = lists.ttl_ms.min(listing.ttl_ms);
                let place = match list {
                    List::Resources => &mut lists.resources,
                    List::ResourceTemplates => &mut lists.templates,
                    List::Prompts | List::Tools => &mut lists.prompts,
                };
                *place = listing.items;
            }
            // Templates are often not there where resources are.
            Err(ClientError::Server(error)) if error.code == crate::wire::code::METHOD_NOT_FOUND => {}
            Err(error) => warnings.push(format!("{}: {error}", word(list))),
        }
    }
    lists.tools = tools;
    let changed = upstream.replace(lists);
    offer(upstream, &facts).await;
    upstream.status.send_modify(|status| {
        status.warnings = warnings.into_iter().map(|warning| upstream.without_secrets(warning)).collect();
        status.warnings.truncate(MOST_WARNINGS);
    });
    Ok(changed)
}

/// Makes tools of its list, and offers them in place of those before.
async fn offer(upstream: &Arc<Upstream>, facts: &ServerFacts) {
    let tools = tools_of(upstream, &upstream.lists().tools);
    let listed = tools.specs.len();
    let raws: Vec<_> = tools.specs.iter().map(|(raw, spec)| (spec.name().to_owned(), raw.clone())).collect();
    let besides = besides_of(upstream, facts);
    let specs = tools.specs.into_iter().chain(besides).map(|(_, spec)| spec).collect();
    let left_out = put(upstream, specs).await;
    let mut quarantined = tools.quarantined;
    let offered = listed - left_out.iter().filter(|(name, _)| raws.iter().any(|(shown, _)| shown == name)).count();
    quarantined.extend(left_out.into_iter().map(|(name, why)| {
        let raw = raws.iter().find(|(shown, _)| *shown == name).map(|(_, raw)| raw.clone());
        (raw.unwrap_or(name), why)
    }));
    for (tool, why) in &quarantined {
        tracing::warn!(server = upstream.settings().name, tool = shortened(tool), why, "a tool is left out");
    }
    upstream.status.send_modify(|status| {
        status.tools = offered;
        status.quarantined = quarantined.iter().map(|(tool, why)| (shortened(tool).to_owned(), why.clone())).collect();
    });
}

async fn put(upstream: &Arc<Upstream>, specs: Vec<ToolSpec>) -> Vec<(String, String)> {
    let upstream = Arc::clone(upstream);
    // Schemas are compiled and rules are checked: that takes its time.
    let put = move || {
        let (parts, server) = (&upstream.parts, &upstream.settings().name);
        // Another one of its name may be there already.
        if upstream.stop.is_cancelled() { Vec::new() } else { parts.shelf.put(server, specs) }
    };
    let put = tokio::task::spawn_blocking(put).await;
    put.unwrap_or_else(|error| vec![("*".to_owned(), format!("its tools could not be taken in: {error}"))])
}

/// Hears what a server says until it is lost, and says why; nothing where it is to be stopped.
async fn attend(upstream: &Arc<Upstream>, link: &dyn Link, mut heard: Heard) -> Option<String> {
    let mut looked = Instant::now();
    loop {
        let event = tokio::select! {
            () = upstream.stop.cancelled() => return None,
            () = upstream.again.notified() => Some(Event::ListChanged(List::Tools)),
            event = heard.next() => event,
        };
        match event {
            None => return Some("its connection is gone".to_owned()),
            Some(Event::Lost(why)) => return Some(why),
            Some(Event::ListChanged(list)) => {
                // One that changes all the time is not looked at all the time.
                sleep(TOGETHER.max(SELDOM.saturating_sub(looked.elapsed()))).await;
                looked = Instant::now();
                let mut changed = vec![list];
                let mut others = Vec::new();
                while let Some(event) = heard.next_already() {
                    match event {
                        Event::ListChanged(list) => changed.push(list),
                        other => others.push(other),
                    }
                }
                match take_in(upstream, link).await {
                    Ok(others) => changed.extend(others),
                    Err(NoStart::Failed(why) | NoStart::Quarantined(why)) => {
                        upstream.doubt(format!("a list changed and could not be read: {why}"));
                    }
                }
                changed.sort_unstable();
                changed.dedup();
                upstream.changed(changed);
                for event in others {
                    if let Event::Lost(why) = event {
                        return Some(why);
                    }
                    upstream.hear(event);
                }
            }
            Some(event) => upstream.hear(event),
        }
    }
}

impl Upstream {
    /// It is being started. Why it was not there before stays visible until it is.
    fn starts(&self) {
        let now = self.parts.clock.now();
        self.status.send_modify(|status| {
            let why = status.reason.take();
            status.becomes(Condition::Starting, why, now);
        });
    }

    /// From now on it offers these. Answers with the lists that are others than before.
    fn replace(&self, lists: Lists) -> Vec<List> {
        let lists = Arc::new(lists);
        let mut place = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *place, Arc::clone(&lists));
        drop(place);
        let is_same =
            |one: &[Document], other: &[Document]| one.iter().map(Document::text).eq(other.iter().map(Document::text));
        let all = [
            (List::Tools, is_same(&before.tools, &lists.tools)),
            (List::Resources, is_same(&before.resources, &lists.resources)),
            (List::ResourceTemplates, is_same(&before.templates, &lists.templates)),
            (List::Prompts, is_same(&before.prompts, &lists.prompts)),
        ];
        all.into_iter().filter(|(_, is_same)| !is_same).map(|(list, _)| list).collect()
    }

    /// Says that these lists are others now.
    fn changed(&self, lists: Vec<List>) {
        for list in lists {
            // Nobody may be listening.
            let _ = self.said.send(Said::Changed { server: self.settings().name.clone(), list });
        }
    }

    pub(super) fn becomes(&self, state: Condition, reason: Option<String>) {
        let reason = reason.map(|reason| self.without_secrets(reason));
        let now = self.parts.clock.now();
        let name = &self.settings().name;
        if let Some(reason) = &reason {
            tracing::warn!(server = name, state = state.word(), reason, "a server changed its state");
        }
        self.status.send_modify(|status| status.becomes(state, reason, now));
    }

    /// Passes on what is no matter of the supervisor's.
    fn hear(&self, event: Event) {
        let server = self.settings().name.clone();
        // Nobody may be listening.
        let _ = match event {
            Event::ResourceUpdated(params) => {
                self.says_of_resource(&Identity::Shared, &params);
                Ok(())
            }
            Event::Log(params) => self.said.send(Said::Log { server, params }).map(drop),
            Event::Noise(line) => {
                self.doubt(format!("it wrote what is no message: {}", shortened(&line)));
                Ok(())
            }
            Event::ListChanged(_) | Event::Lost(_) => Ok(()),
        };
    }

    /// What it says of itself, without what it was given, whenever that was.
    pub(super) fn without_secrets(&self, text: String) -> String {
        self.parts.confidant.without(self.settings().without_secrets(text))
    }

    fn doubt(&self, words: String) {
        let words = self.without_secrets(words);
        self.status.send_modify(|status| {
            if status.warnings.len() >= MOST_WARNINGS {
                status.warnings.remove(0);
            }
            status.warnings.push(words);
        });
    }
}

/// How long a server rests before it is started again: growing pauses of random length, or until the budget allows it.
fn rest_after(upstream: &Upstream, failures: u32, restarts: &mut VecDeque<Instant>, why: String) -> Duration {
    let now = Instant::now();
    while restarts.front().is_some_and(|earlier| now.duration_since(*earlier) > WINDOW) {
        restarts.pop_front();
    }
    let most = upstream.settings().restarts as usize;
    if restarts.len() >= most {
        let free = restarts.front().map_or(WINDOW, |earlier| WINDOW.saturating_sub(now.duration_since(*earlier)));
        let reason = format!("{why}; it was started again {most} times within an hour and is left alone for a while");
        upstream.becomes(Condition::Failed, Some(reason));
        return free;
    }
    restarts.push_back(now);
    upstream.becomes(Condition::Failed, Some(why));
    let full = PAUSES.0.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(PAUSES.1);
    // Between half of it and all of it.
    let share = upstream.parts.ids.random() % 512 + 512;
    full.mul_f64(f64::from(u32::try_from(share).unwrap_or(1024)) / 1024.0)
}

fn word(list: List) -> &'static str {
    match list {
        List::Tools => "tools",
        List::Prompts => "prompts",
        List::Resources => "resources",
        List::ResourceTemplates => "resource templates",
    }
}

/// A peer's word, short enough to be repeated.
fn shortened(word: &str) -> &str {
    const LONGEST: usize = 200;
    &word[..word.floor_char_boundary(LONGEST)]
}
