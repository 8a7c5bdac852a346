//! A client and scripted servers.

mod eras;
mod headers;
mod hostile;
mod http;
mod lists;
mod peer;
mod requests;
mod servers;
mod site;
mod watching;
