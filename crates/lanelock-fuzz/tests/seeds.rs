//! Every committed seed through the function of its target, without a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};

use lanelock_fuzz::TARGETS;

/// Files in `fuzz/seeds/TARGET`, by name.
fn seeds(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/seeds")
        .join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

fn replay(target: &str) {
    let (_, run) = TARGETS
        .iter()
        .find(|(name, _)| *name == target)
        .expect("a target");
    let files = seeds(target);
    assert!(!files.is_empty(), "{target} has no seed");
    for file in files {
        // The last line before a panic tells the seed; libtest shows it with the failure.
        println!("{}", file.display());
        run(&fs::read(&file).expect("a seed can be read"));
    }
}

macro_rules! each {
    ($($target:ident),* $(,)?) => {
        $(#[test] fn $target() { replay(stringify!($target)); })*

        const TESTED: &[&str] = &[$(stringify!($target)),*];
    };
}

each!(
    cursor,
    kernels,
    keys,
    op_validation,
    openssl_config,
    programs,
    segment_lists,
    telemetry_page,
    vectors,
);

/// A target is in the table, in this test, in `fuzz/Cargo.toml` and in the folder of seeds, or in
/// none of them.
#[test]
fn the_lists_of_targets_agree() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).expect("a manifest");
    let built: Vec<_> = manifest
        .lines()
        .filter_map(|line| {
            line.strip_prefix("path = \"fuzz_targets/")?
                .strip_suffix(".rs\"")
        })
        .collect();
    let entries = fs::read_dir(fuzz.join("seeds")).expect("a folder of seeds");
    let mut seeded: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    seeded.sort();
    let listed: Vec<_> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(listed, TESTED);
    assert_eq!(listed, built);
    assert_eq!(listed, seeded);
}
