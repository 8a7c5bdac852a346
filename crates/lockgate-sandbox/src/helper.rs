//! The helper: a program that is started between us and the program that was asked for, and that ends all of it when it is time.

#[cfg(target_os = "linux")]
mod init;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

use crate::fence::{Fence, Level};

/// The first argument of the helper.
const WORD: &str = "sandbox-init";

/// Where the helper is.
static HELPER: OnceLock<PathBuf> = OnceLock::new();

/// Names the program that calls [`take_over`] first thing: itself, as a rule. Only the first name counts.
pub fn register(program: PathBuf) {
    // A second name is no error: whoever came first is as good.
    let _ = HELPER.set(program);
}

/// The first line of a program's `main`. Where the program was started as the helper, it does the helper's work and says with what to
/// end. Otherwise it registers the program as the helper, and the program goes on.
///
/// It has to come before any thread is started: the system lets only a process with one thread make what the helper makes.
pub fn take_over() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let program = arguments.next();
    if arguments.next().is_some_and(|word| word == WORD) {
        return Some(serve(&arguments.collect::<Vec<_>>()));
    }
    #[cfg(target_os = "linux")]
    let itself = {
        let _ = program;
        // Also where its file was replaced by a newer one.
        Some(PathBuf::from("/proc/self/exe"))
    };
    #[cfg(not(target_os = "linux"))]
    let itself = program.and_then(|_| std::env::current_exe().ok());
    if let Some(itself) = itself {
        register(itself);
    }
    None
}

/// How the helper is started; the program and its arguments come behind.
pub(crate) struct Helper {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
}

#[cfg(target_os = "linux")]
fn serve(arguments: &[OsString]) -> ExitCode {
    init::serve(arguments)
}

#[cfg(not(target_os = "linux"))]
fn serve(_: &[OsString]) -> ExitCode {
    ExitCode::FAILURE
}

/// The best fence that there is here. What the machine lets us do is tried once.
#[cfg(target_os = "linux")]
pub(crate) fn best() -> (Fence, Option<Helper>) {
    static TRIED: OnceLock<Result<(), String>> = OnceLock::new();
    let group = |why: String| Fence { level: Level::ProcessGroup, why_not_more: Some(why) };
    let Some(program) = HELPER.get() else {
        return (group("this program has not registered a helper".to_owned()), None);
    };
    let helper =
        |mode: init::Mode| Some(Helper { program: program.clone(), arguments: mode.arguments(std::process::id()) });
    match TRIED.get_or_init(|| init::probe(program)) {
        Ok(()) => (Fence { level: Level::PidNamespace, why_not_more: None }, helper(init::Mode::Namespace)),
        Err(why) => (group(why.clone()), helper(init::Mode::Group)),
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn best() -> (Fence, Option<Helper>) {
    let why = "this system has no process namespaces".to_owned();
    (Fence { level: Level::ProcessGroup, why_not_more: Some(why) }, None)
}

#[cfg(not(unix))]
pub(crate) fn best() -> (Fence, Option<Helper>) {
    let why = "this system has no process groups".to_owned();
    (Fence { level: Level::ChildOnly, why_not_more: Some(why) }, None)
}
