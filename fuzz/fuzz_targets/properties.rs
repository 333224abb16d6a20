#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| windtunnel_fuzz::properties(bytes));
