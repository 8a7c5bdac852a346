//! The one place with `unsafe`: leaving the process namespace that one was born into.

#![expect(unsafe_code, reason = "the system call has no safe form; its reason stands beside it")]

use std::io;

use rustix::process::{getgid, getuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// From here on, what this process starts is in a process namespace of its own, the first as its pid 1. Without the right to make one,
/// it is made inside a user namespace, in which everybody keeps the number that they have.
pub(crate) fn enter() -> io::Result<()> {
    match unshare(UnshareFlags::NEWPID) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let (user, group) = (getuid().as_raw(), getgid().as_raw());
            unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWPID)?;
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
            std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
        }
        result => result,
    }
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: what makes the call unsafe is that a table of files can stop being shared with other threads that hold numbers of them.
    // Neither of the two flags used above touches it, and the helper has one thread.
    unsafe { unshare_unsafe(flags) }.map_err(io::Error::from)
}
