//! `lockgate approvals watch`, on a terminal that the test holds the other end of.
#![cfg(unix)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::command::Desk;
use crate::interrupts::signal;

/// A terminal, with the command on it.
struct Session {
    child: Child,
    keys: File,
    /// The command's end.
    line: File,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Session {
    fn start(desk: &Desk) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let line = File::options().read(true).write(true).open(path).unwrap();
        tcsetwinsize(&ours, Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let mut command = desk.command(&["approvals", "watch"]);
        command.stdin(line.try_clone().unwrap()).stdout(line.try_clone().unwrap()).stderr(Stdio::null());
        let child = command.env("TERM", "xterm").spawn().unwrap();
        let keys = File::from(ours);
        let (mut screen, written) = (keys.try_clone().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&written);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                kept.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { child, keys, line, written }
    }

    /// Waits until all of these words were written since the last key.
    fn shows(&self, words: &[&str]) {
        let begun = Instant::now();
        loop {
            let text = String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned();
            if words.iter().all(|word| text.contains(word)) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "{words:?} are not in {text:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&mut self, keys: &str) {
        self.written.lock().unwrap().clear();
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// The page takes keys one by one, and does not show them.
    fn is_raw(&self) -> bool {
        !tcgetattr(&self.line).unwrap().local_modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    }

    fn ends(&mut self) -> Option<i32> {
        let code = self.child.wait().unwrap().code();
        // Back from the page, with the cursor, and with lines as before.
        self.shows(&["\u{1b}[?1049l", "\u{1b}[?25h"]);
        assert!(!self.is_raw());
        code
    }
}

#[test]
fn a_question_is_decided_on_the_page() {
    let desk = Desk::new();
    let asked = desk.run(&["run", "ticket.toml", "--format", "json"]).json();
    let id = asked["calls"][0]["approval_id"].as_str().unwrap().to_owned();
    let mut session = Session::start(&desk);
    session.shows(&["create_ticket", &id, "auth-api", "9007199254740993.10"]);
    assert!(session.is_raw());
    // One that comes later is seen too, without a key.
    let later = desk.run(&["run", "ticket.toml", "--format", "json"]).json();
    session.shows(&[later["run_id"].as_str().unwrap()]);
    session.press("a");
    session.shows(&["approve", asked["run_id"].as_str().unwrap()]);
    session.press("n");
    session.shows(&["nothing"]);
    assert_eq!(desk.run(&["approvals", "show", &id, "--format", "json"]).json()["state"], "pending");
    session.press("a");
    session.shows(&["approve"]);
    session.press("y");
    session.shows(&["granted", "resume"]);
    let decided = desk.run(&["approvals", "show", &id, "--format", "json"]).json();
    assert_eq!((decided["state"].as_str(), desk.entered("create_ticket.count")), (Some("granted"), 0));

    session.press("d");
    session.shows(&["why"]);
    session.press("no\r");
    session.shows(&["because:"]);
    session.press("y");
    session.shows(&["denied"]);
    let id = later["calls"][0]["approval_id"].as_str().unwrap();
    let decided = desk.run(&["approvals", "show", id, "--format", "json"]).json();
    assert_eq!((decided["state"].as_str(), decided["reason"].as_str()), (Some("denied"), Some("no")));
    session.press("q");
    assert_eq!(session.ends(), Some(0));
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for name in ["TERM", "HUP"] {
        let desk = Desk::new();
        desk.run(&["run", "ticket.toml", "--format", "json"]);
        let mut session = Session::start(&desk);
        session.shows(&["create_ticket"]);
        signal(&session.child, name);
        assert_eq!(session.ends(), Some(130), "{name}");
    }
}

/// Somebody else decided in the meantime.
#[test]
fn a_refusal_is_shown() {
    let desk = Desk::new();
    let asked = desk.run(&["run", "ticket.toml", "--format", "json"]).json();
    let id = asked["calls"][0]["approval_id"].as_str().unwrap();
    let mut session = Session::start(&desk);
    session.shows(&[id]);
    session.press("a");
    session.shows(&["approve"]);
    assert_eq!(desk.run(&["approvals", "deny", id]).code, Some(0));
    session.press("y");
    session.shows(&["denied:", "decision"]);
    session.press("\u{3}");
    assert_eq!(session.ends(), Some(0));
}

#[test]
fn without_a_terminal_there_is_no_page() {
    insta::assert_snapshot!("no_terminal", Desk::new().run(&["approvals", "watch"]).whole());
}
