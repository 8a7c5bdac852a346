//! Every row of the outcome table that the executor can produce, and what each shows to whom.

mod mapping;
mod rows;
