//! Real runs have no defect, arbitrary events do no harm, and every way of corrupting a journal is named right.

mod bench;
mod corpus;
mod corruption;
mod decisions;
mod export;
mod good;
mod inner;
mod properties;
mod table;
