//! The helper that fences child processes, for programs that embed Lockgate and do not call `take_over` themselves: they ship it
//! beside them and name it to `lockgate_sandbox::register`.

use std::process::ExitCode;

fn main() -> ExitCode {
    lockgate_sandbox::take_over().unwrap_or(ExitCode::FAILURE)
}
