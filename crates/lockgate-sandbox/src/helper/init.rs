//! What the helper does. It runs in a process of its own, which does nothing else.
//!
//! ```text
//! sandbox-init namespace PARENT PROGRAM…   makes a namespace, starts the next one in it, waits for it and watches PARENT
//! sandbox-init first PROGRAM…              pid 1 there: starts the program, collects what ended, ends with the program
//! sandbox-init group PARENT PROGRAM…       the same as the first, without a namespace
//! sandbox-init probe                       whether a namespace can be made: a line on standard output where not
//! ```

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpgrp, getppid, kill_process_group, pidfd_open, pidfd_send_signal,
    set_parent_process_death_signal, wait,
};
use tokio::signal::unix::{SignalKind, signal};

use super::WORD;
use crate::namespace;

/// What fences the program.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    Namespace,
    Group,
}

impl Mode {
    pub(crate) fn arguments(self, parent: u32) -> Vec<OsString> {
        let mode = match self {
            Self::Namespace => "namespace",
            Self::Group => "group",
        };
        vec![WORD.into(), mode.into(), parent.to_string().into()]
    }
}

/// Tries whether the helper can make a namespace, and what is wrong where it cannot.
pub(crate) fn probe(helper: &Path) -> Result<(), String> {
    let tried = Command::new(helper).args([WORD, "probe"]).env_clear().stdin(Stdio::null()).output();
    let tried = tried.map_err(|error| format!("the helper cannot be started: {error}"))?;
    match (tried.status.success(), String::from_utf8_lossy(&tried.stdout).trim()) {
        (true, _) => Ok(()),
        (false, "") => Err("the helper does not answer: is it a program that calls `take_over`?".to_owned()),
        (false, why) => Err(why.to_owned()),
    }
}

/// Does what the arguments say. The number that it ends with is the program's; 128 and the signal's where one ended it.
pub(super) fn serve(arguments: &[OsString]) -> ExitCode {
    let words: Vec<_> = arguments.iter().map(OsString::as_os_str).collect();
    let done = match words.as_slice() {
        [mode, parent, program @ ..] if *mode == "namespace" => namespace::enter()
            .and_then(|()| guard(parent, &[&[itself(), WORD.as_ref(), "first".as_ref()], program].concat())),
        [mode, parent, program @ ..] if *mode == "group" => guard(parent, program),
        [mode, program @ ..] if *mode == "first" => first(program),
        [mode] if *mode == "probe" => return try_out(),
        [mode] if *mode == "nothing" => Ok(u8::from(std::process::id() != 1)),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    done.map_or_else(|error| complain(&error), ExitCode::from)
}

/// On standard error, which is the program's: whoever reads its last words learns why it never spoke.
fn complain(error: &io::Error) -> ExitCode {
    let _ = writeln!(io::stderr(), "the program cannot be started in its fence: {error}");
    ExitCode::from(127)
}

fn try_out() -> ExitCode {
    let made = namespace::enter().and_then(|()| Command::new(itself()).args([WORD, "nothing"]).status());
    let why = match made {
        Ok(status) if status.success() => return ExitCode::SUCCESS,
        Ok(status) => format!("a process in a namespace of its own ends with {status}"),
        Err(error) => format!("the system refuses process namespaces: {error}"),
    };
    let _ = writeln!(io::stdout(), "{why}");
    ExitCode::FAILURE
}

fn itself() -> &'static OsStr {
    OsStr::new("/proc/self/exe")
}

/// Starts the program, and kills it when `parent` is gone. What asks the group to end is not for the helper: it ends when the program
/// has.
fn guard(parent: &OsStr, program: &[&OsStr]) -> io::Result<u8> {
    let parent = parent.to_str().and_then(|parent| parent.parse().ok()).and_then(Pid::from_raw);
    let parent = parent.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    // A signal that has a handler does not end this process, and the program that it starts does not inherit the handler.
    let _heard =
        [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit()].map(signal);
    let parent_lives = pidfd_open(parent, PidfdFlags::empty())?;
    if getppid() != Some(parent) {
        // It is gone, and its number may be somebody else's.
        return Err(io::Error::from(io::ErrorKind::BrokenPipe));
    }
    let mut child = start(program)?;
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let number = number.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    let child_lives = pidfd_open(number, PidfdFlags::empty())?;
    loop {
        let mut watched = [PollFd::new(&parent_lives, PollFlags::IN), PollFd::new(&child_lives, PollFlags::IN)];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => continue,
            result => result?,
        };
        if !watched[1].revents().is_empty() {
            return Ok(number_of(child.wait()?));
        }
        if !watched[0].revents().is_empty() {
            let _ = pidfd_send_signal(child_lives.as_fd(), Signal::KILL);
            let _ = kill_process_group(getpgrp(), Signal::KILL);
        }
    }
}

/// Pid 1: everything in its namespace is killed when it ends.
fn first(program: &[&OsStr]) -> io::Result<u8> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let child = start(program)?;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if u32::try_from(ended.as_raw_nonzero().get()) == Ok(child.id()) => {
                return Ok(number_of(ExitStatus::from_raw(status.as_raw())));
            }
            // Whatever was left behind by others is collected here.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Starts a program with this process's pipes, and lets go of them: whoever speaks with the program has to see when it closes one.
fn start(program: &[&OsStr]) -> io::Result<Child> {
    let Some((name, arguments)) = program.split_first() else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let child = Command::new(name).args(arguments).spawn()?;
    let nothing = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(child)
}

fn number_of(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX)
}
