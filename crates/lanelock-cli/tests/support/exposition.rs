//! A strict reader of Prometheus' text format (version 0.0.4).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A sample's name and labels.
type Series = (String, BTreeMap<String, String>);

/// The samples of a page. Panics unless each family is declared once, with HELP, TYPE and then its
/// samples together, no series comes twice, and each line is well formed.
pub fn parse(page: &str) -> BTreeMap<Series, f64> {
    assert!(page.ends_with('\n'), "the last line ends, too");
    let mut samples = BTreeMap::new();
    let mut families = BTreeSet::new();
    let (mut helped, mut family, mut kind) = ("", "", "");
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, text) = rest.split_once(' ').expect(line);
            assert!(families.insert(name), "{name} comes twice");
            assert!(is_name(name) && !text.contains('\\'), "{line}");
            helped = name;
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            (family, kind) = rest.split_once(' ').expect(line);
            assert_eq!(family, helped, "{line}");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
        } else {
            let (series, value) = series(line);
            let suffix = series.0.strip_prefix(family).expect(line);
            let suffixes: &[&str] = match kind {
                "histogram" => &["_bucket", "_sum", "_count"],
                _ => &[""],
            };
            assert!(suffixes.contains(&suffix), "{line}");
            assert_eq!(series.1.contains_key("le"), suffix == "_bucket", "{line}");
            assert_eq!(series.0.ends_with("_total"), kind == "counter", "{line}");
            let value: f64 = value.parse().expect(line);
            assert!(value >= 0.0, "{line}");
            assert_eq!(samples.insert(series, value), None, "{line}");
        }
    }
    samples
}

/// The value of the series with exactly these labels.
pub fn value(samples: &BTreeMap<Series, f64>, name: &str, labels: &[(&str, &str)]) -> f64 {
    let labels = labels
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let series = (name.to_owned(), labels.collect());
    *samples
        .get(&series)
        .unwrap_or_else(|| panic!("no {series:?} in {samples:#?}"))
}

/// Prometheus' own checker; says so if it is not installed.
pub fn promtool() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("promtool"));
    let found = programs.find(|program| program.is_file());
    if found.is_none() {
        eprintln!("SKIPPED in part: promtool is not installed (apt-get install prometheus)");
    }
    found
}

/// `name{label="value",…} number`, or without labels.
fn series(line: &str) -> (Series, &str) {
    let end = line.find(['{', ' ']).expect(line);
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    if let Some(mut inside) = rest.strip_prefix('{') {
        loop {
            let (label, quoted) = inside.split_once("=\"").expect(line);
            assert!(is_name(label) && !label.contains(':'), "{line}");
            let (value, after) = unquoted(quoted).expect(line);
            assert_eq!(labels.insert(label.to_owned(), value), None, "{line}");
            match after.strip_prefix(',') {
                Some(more) => inside = more,
                None => {
                    rest = after.strip_prefix('}').expect(line);
                    break;
                }
            }
        }
    }
    let value = rest.strip_prefix(' ').expect(line);
    ((name.to_owned(), labels), value)
}

/// A value up to its closing quote, and what follows.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                c @ ('\\' | '"') => value.push(c),
                _ => return None,
            },
            c => value.push(c),
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == ':')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
}
