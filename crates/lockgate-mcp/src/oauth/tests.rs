//! Logins at scripted issuers on this machine, good ones and hostile ones.

#![expect(clippy::disallowed_methods, reason = "the tests' own files, and the time that they take")]

mod agents;
mod grants;
mod hostile;
mod keeping;
mod registering;
mod scenarios;
mod scopes;
mod site;
mod stepping;
mod world;
