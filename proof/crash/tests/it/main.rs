//! A seeded part of the crash matrix, played by the ordinary tests (`cargo xtask crash` plays all of it), and what a matrix
//! of points does not show: drivers that stand still, a database that is gone, and chance.
#![expect(clippy::unwrap_used, reason = "tests")]

mod cut_off;
mod frozen;
mod history;
mod judge;
mod matrix;

use std::path::Path;

use crash::database;
use crash::stage::Stage;

fn stage() -> Stage {
    Stage::set(program(), None).unwrap()
}

fn stage_with_postgres() -> Stage {
    let server = std::env::var(database::SERVER).unwrap_or_else(|_| {
        panic!("`{}` is not set: `cargo xtask postgres cargo nextest run -p crash`", database::SERVER)
    });
    Stage::set(program(), Some(&server)).unwrap()
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_crash"))
}
