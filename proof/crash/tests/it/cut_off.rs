//! The database is gone for a while, in the middle of a run: the driver's way to it is cut.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crash::bench::Orders;
use crash::case::Case;
use crash::judge::broken;
use crash::kill::Spot;
use crash::scenario::to_the_end;
use crash::stage::Store;

use crate::stage_with_postgres;

/// How long the database is gone: less than a driver waits for it, and more.
const SHORT: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(30);

/// A way to the database that can be cut.
struct Line {
    address: SocketAddr,
    open: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Line {
    fn to(database: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let line = Self { address: listener.local_addr().unwrap(), open: Arc::new(Mutex::new(Some(Vec::new()))) };
        let open = Arc::clone(&line.open);
        thread::spawn(move || {
            for driver in listener.incoming().flatten() {
                let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                // While it is cut, whoever comes is sent away.
                let Some(streams) = &mut *open else { continue };
                let Ok(server) = TcpStream::connect(database) else { continue };
                for (from, into) in [(&driver, &server), (&server, &driver)] {
                    let (mut from, mut into) = (from.try_clone().unwrap(), into.try_clone().unwrap());
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut into);
                        let _ = into.shutdown(Shutdown::Write);
                    });
                }
                streams.extend([driver, server]);
            }
        });
        line
    }

    fn cut(&self) {
        let streams = self.open.lock().unwrap().take();
        for stream in streams.into_iter().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        *self.open.lock().unwrap() = Some(Vec::new());
    }
}

#[test]
fn nothing_is_repeated_when_the_database_is_gone_for_a_while() {
    let refused = &["completed, ok", "completed, storage_unavailable"][..];
    let done = &["completed, ok"][..];
    let unknown = &["completed, ok", "needs_reconciliation, outcome_unknown"][..];
    // The case, where the driver is when the line is cut and for how long, and what the run may come to in the end.
    let outages = [
        // Nothing was sent: the gate refuses, or the next write waits until the database is back.
        (Case::External, "harness.turn.before", 1, SHORT, refused),
        (Case::External, "harness.turn.stored", 1, SHORT, refused),
        (Case::External, "harness.turn.stored", 1, LONG, refused),
        // The claim's commit is the one that is cut off.
        (Case::External, "journal.claim.lease", 1, SHORT, refused),
        (Case::External, "journal.claim.lease", 1, LONG, refused),
        (Case::External, "journal.commit.before", 4, SHORT, refused),
        (Case::External, "executor.handler.before", 1, SHORT, done),
        (Case::External, "executor.handler.after", 1, SHORT, done),
        (Case::External, "executor.handler.after", 1, LONG, unknown),
        (Case::Keyed, "executor.handler.after", 1, SHORT, done),
        (Case::Keyed, "executor.handler.after", 1, LONG, done),
        (Case::Probed, "executor.handler.after", 1, SHORT, done),
        (Case::Probed, "executor.handler.after", 1, LONG, done),
        (Case::External, "executor.result.after", 1, SHORT, done),
    ];
    let stage = stage_with_postgres();
    let url = stage.database().unwrap().to_owned();
    let (before, rest) = url.rsplit_once('@').unwrap();
    let (address, name) = rest.split_once('/').unwrap();
    let outage = |(case, point, hit, outage, ends): (Case, &str, u32, Duration, &[&str])| {
        let line = Line::to(address.parse().unwrap());
        let bench = stage.bench(case, Store::Postgres).unwrap();
        let first = bench
            .start(&Orders {
                freezes_at: Some(Spot::At(point.to_owned(), hit)),
                journal: Some(format!("{before}@{}/{name}", line.address)),
                ..Orders::default()
            })
            .unwrap();
        first.until_frozen().unwrap();
        line.cut();
        first.thaw().unwrap();
        thread::sleep(outage);
        line.mend();
        let first = first.end().unwrap();
        let told = first.error.clone().or(first.stop.clone());
        let played = to_the_end(&bench, &[], vec![first]).unwrap();
        let place = format!("{case:?} at {point} for {outage:?}: {told:?}");
        assert_eq!(broken(&played), Vec::<String>::new(), "{place}");
        assert!(ends.contains(&&*played.end.words), "{place}, {}", played.end);
    };
    // Side by side: most of them wait.
    thread::scope(|scope| outages.map(|one| scope.spawn(move || outage(one))).map(|one| one.join().unwrap()));
}
