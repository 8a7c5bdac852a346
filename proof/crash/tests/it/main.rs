//! A seeded part of the crash matrix, played by the ordinary tests. `cargo xtask crash` plays all of it.

mod matrix;
