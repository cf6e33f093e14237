//! Any operation against the model of the rules: what is refused, and every byte afterwards.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_testkit::check_operation(data);
});
