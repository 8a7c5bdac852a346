//! The sessions of legacy clients over HTTP. They are many, nobody says when they are over, and each costs memory: so they end when
//! they are idle for long, and the longest idle one makes room for the next.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use super::events::EventLog;
use crate::server::desk::Desk;
use crate::server::session::Session;
use crate::server::{Principal, Standing};

/// How many streams that ended are kept for clients that lost their connection, and how large one may be.
const MOST_ENDED: usize = 4;
const LARGEST_ENDED: usize = 1 << 20;

/// All sessions.
pub(super) struct Sessions {
    most: usize,
    most_each: usize,
    idle: Duration,
    open: Mutex<HashMap<String, Arc<Open>>>,
}

/// One session, with its streams.
pub(super) struct Open {
    pub(super) session: Arc<Session>,
    used: Mutex<Instant>,
    busy: AtomicUsize,
    streams: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    last: u64,
    /// What belongs to no request.
    general: Option<Arc<EventLog>>,
    /// Of requests under way.
    open: Vec<Arc<EventLog>>,
    ended: VecDeque<Arc<EventLog>>,
}

/// A session is in use as long as one of these is there.
pub(super) struct Busy(Arc<Open>);

impl Sessions {
    pub(super) fn new(most: usize, most_each: usize, idle: Duration) -> Self {
        Self { most, most_each, idle, open: Mutex::default() }
    }

    /// Takes a session in; its id. Nothing where there is no room, because all are in use.
    pub(super) fn add(&self, session: Arc<Session>) -> std::io::Result<Option<String>> {
        let id = URL_SAFE_NO_PAD.encode(lockgate_host::randomness::secret_bytes()?);
        let now = Instant::now();
        let mut over = Vec::new();
        let mut open = self.open();
        open.retain(|_, session| {
            let keep = session.idle_since().is_none_or(|since| now.duration_since(since) < self.idle);
            if !keep {
                over.push(Arc::clone(session));
            }
            keep
        });
        let credential = session.principal.credential.clone();
        let is_mine = |open: &Open| open.session.principal.credential == credential;
        let mine = open.values().filter(|open| is_mine(open)).count();
        if mine >= self.most_each || open.len() >= self.most {
            let crowd = open.iter().filter(|(_, open)| mine < self.most_each || is_mine(open));
            let idle = crowd.filter_map(|(id, open)| Some((open.idle_since()?, id.clone())));
            let Some((_, longest)) = idle.min() else {
                return Ok(None);
            };
            over.extend(open.remove(&longest));
        }
        let taken = Open { session, used: Mutex::new(now), busy: AtomicUsize::new(0), streams: Mutex::default() };
        open.insert(id.clone(), Arc::new(taken));
        drop(open);
        for session in over {
            session.end();
        }
        Ok(Some(id))
    }

    /// The session with this id, if it is this principal's and not over.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Option<Busy> {
        let mut open = self.open();
        let found = open.get(id).filter(|found| found.session.principal.credential == principal.credential)?;
        if found.idle_since().is_some_and(|since| since.elapsed() >= self.idle) {
            let over = open.remove(id);
            drop(open);
            if let Some(session) = &over {
                session.end();
            }
            return None;
        }
        Some(Busy::new(found))
    }

    /// Ends a session.
    pub(super) fn remove(&self, id: &str) {
        let removed = self.open().remove(id);
        if let Some(session) = &removed {
            session.end();
        }
    }

    /// Ends those whose credential was taken back. One whose time is over may have a newer one.
    pub(super) fn judge(&self, standing: &dyn Fn(&Principal) -> Standing) {
        let mut over = Vec::new();
        self.open().retain(|_, open| {
            let stays = standing(&open.session.principal) != Standing::Revoked;
            if !stays {
                over.push(Arc::clone(open));
            }
            stays
        });
        for session in over {
            session.end();
        }
    }

    /// Ends all.
    pub(super) fn clear(&self) {
        let all = std::mem::take(&mut *self.open());
        for session in all.values() {
            session.end();
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<Open>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// A stream for one request.
    pub(super) fn stream(&self) -> Arc<EventLog> {
        let mut streams = self.streams();
        streams.last += 1;
        let log = EventLog::new(Some(streams.last));
        streams.open.push(Arc::clone(&log));
        log
    }

    /// A request's stream is complete: it is kept for a while.
    pub(super) fn complete(&self, log: &Arc<EventLog>) {
        log.end();
        let mut streams = self.streams();
        streams.open.retain(|open| !Arc::ptr_eq(open, log));
        if log.bytes() <= LARGEST_ENDED {
            streams.ended.push_back(Arc::clone(log));
            if streams.ended.len() > MOST_ENDED {
                streams.ended.pop_front();
            }
        }
    }

    /// The stream with this number, if it is kept.
    pub(super) fn kept(&self, number: u64) -> Option<Arc<EventLog>> {
        let streams = self.streams();
        let mut all = streams.general.iter().chain(&streams.open).chain(&streams.ended);
        all.find(|log| log.number() == Some(number)).cloned()
    }

    /// The stream for what belongs to no request.
    pub(super) fn general(self: &Arc<Self>, desk: &Arc<Desk>) -> Arc<EventLog> {
        let mut streams = self.streams();
        if let Some(general) = &streams.general {
            return Arc::clone(general);
        }
        streams.last += 1;
        let log = EventLog::new(Some(streams.last));
        streams.general = Some(Arc::clone(&log));
        drop(streams);
        let (session, closing) = (Arc::clone(&self.session), desk.closing.clone());
        let mut changes = desk.service.changes(&session.principal);
        let told = Arc::clone(&log);
        desk.tasks.spawn(async move {
            loop {
                let change = tokio::select! {
                    () = session.ended.cancelled() => break,
                    () = closing.cancelled() => break,
                    change = changes.recv() => change,
                };
                let texts = match change {
                    Ok(change) => session.tells(&change).into_iter().collect(),
                    Err(RecvError::Lagged(_)) => session.tells_of_missed(),
                    Err(RecvError::Closed) => break,
                };
                for text in texts {
                    told.push(text, false);
                }
                // Whoever does not read misses what comes meanwhile, and is told so.
                tokio::select! {
                    () = told.room() => {}
                    () = session.ended.cancelled() => break,
                    () = closing.cancelled() => break,
                }
            }
            told.end();
        });
        log
    }

    fn idle_since(&self) -> Option<Instant> {
        let idle = self.busy.load(Ordering::Acquire) == 0;
        idle.then(|| *self.used.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn end(&self) {
        let streams = std::mem::take(&mut *self.streams());
        streams.general.iter().chain(&streams.open).for_each(|log| log.end());
        self.session.end();
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Busy {
    fn new(open: &Arc<Open>) -> Self {
        open.busy.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(open))
    }
}

impl Clone for Busy {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl std::ops::Deref for Busy {
    type Target = Arc<Open>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *self.0.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}
