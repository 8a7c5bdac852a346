#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lockgate_fuzz::schema::run(bytes));
