//! `peers/specs.h`: the table of algorithms for the C programs that lanelock is measured against.
//!
//! With `LANELOCK_WRITE=1` the test writes the file, and otherwise compares.

use std::fmt::Write;
use std::fs;

use lanelock_core::Algorithm;
use lanelock_core::algorithm::Spec;
use lanelock_core::sizes::Sizes;

#[test]
fn the_peers_have_the_tables_rows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../peers/specs.h");
    let header = header();
    if std::env::var_os("LANELOCK_WRITE").is_some() {
        fs::write(path, &header).unwrap();
    }
    assert!(
        fs::read_to_string(path).unwrap() == header,
        "peers/specs.h is not what the table says: \
         LANELOCK_WRITE=1 cargo test -p lanelock-core --test suite specs writes it"
    );
}

fn header() -> String {
    let mut text =
        "/* From the table of algorithms in lanelock-core, whose tests write this file. */\n"
            .to_owned();
    for spec in Spec::singles() {
        let row = spec.algorithm.row();
        let kind = match spec.algorithm {
            Algorithm::Cipher(_) => "CIPHER",
            Algorithm::Mac(_) => "MAC",
            Algorithm::Hash(_) => "HASH",
            Algorithm::Aead(_) => "AEAD",
            other => panic!("{other:?} is not a family"),
        };
        let key = match row.members.is_empty() {
            true => range(row.key, spec.key_len),
            false => [spec.key_len; 3],
        };
        let [key, iv, tag] = [
            key,
            range(row.iv, row.default_iv),
            range(row.tag, row.default_tag),
        ]
        .map(|[least, most, usual]| format!("{{ {least}, {most}, {usual} }}"));
        writeln!(
            text,
            "{{ \"{spec}\", {kind}, {key}, {{ 0, 0, 0 }}, {iv}, {tag}, {}, {} }},",
            row.block,
            row.min_payload.max(row.block), // the peers take no empty message
        )
        .unwrap();
    }
    text
}

/// Least, most and usual.
fn range(sizes: Sizes, usual: usize) -> [usize; 3] {
    [sizes.ranges()[0].min, sizes.max(), usual]
}
