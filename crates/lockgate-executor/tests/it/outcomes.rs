//! Every row of the outcome table that the executor can produce, and what each shows to whom.

mod after_the_handler;
mod before_the_handler;
mod mapping;
mod row;
