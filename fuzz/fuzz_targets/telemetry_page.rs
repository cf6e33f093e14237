//! Any work of queues against the page that counts it, and any page.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_fuzz::telemetry_page::run(data);
});
