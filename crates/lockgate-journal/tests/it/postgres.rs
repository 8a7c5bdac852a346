//! What only a database can do: be shared by machines, keep tenants apart, be gone in the middle.

mod faults;
mod holds;
mod opening;
mod shared;
mod tenants;
