//! The command `lockgate`.
fn main() {}
