//! lanelock.h says what the sources say, with or without cbindgen.

#![allow(missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of this crate, or a file in one.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &Path) -> String {
    std::fs::read_to_string(name).expect("UTF-8")
}

/// The files of a folder with this extension, one after the other.
fn all(folder: &str, extension: &str) -> String {
    let files = std::fs::read_dir(path(folder)).expect("a folder");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files.retain(|file| file.extension().is_some_and(|it| it == extension));
    files.iter().map(|file| read(file)).collect()
}

/// The sources without their tests and comments.
fn sources() -> String {
    let files = all("src", "rs");
    let code = files
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    // Tests are the last item of their file.
    let mut parts = code.split("#[cfg(test)]\nmod tests {");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept += part.split_once("\n}\n").map_or("", |(_, after)| after);
    }
    kept
}

/// The header as cbindgen writes it, without what C compiles into programs.
fn header() -> String {
    let header = read(&path("include/lanelock.h"));
    let generated = header.split("/* What follows is compiled").next();
    let generated = generated.unwrap_or_default().lines();
    let code = generated.map(|line| line.split("//").next().unwrap_or_default());
    code.collect::<Vec<_>>().join("\n")
}

/// Text without white space, and without the word that C puts in front of structures.
fn squeezed(text: &str) -> String {
    text.replace("struct ", "").split_whitespace().collect()
}

/// A Rust declaration `name: type` as C writes it, squeezed.
fn declared(declaration: &str) -> String {
    let (name, kind) = declaration.split_once(':').expect("a type");
    let (name, kind) = (name.trim(), kind.trim());
    if let Some(array) = kind.strip_prefix('[') {
        let (item, count) = array
            .trim_end_matches(']')
            .split_once("; ")
            .expect("an array");
        return format!("{}{name}[{count}]", base(item));
    }
    format!("{}{name}", pointed(kind))
}

fn pointed(kind: &str) -> String {
    if let Some(to) = kind.strip_prefix("*const *mut ") {
        return format!("{}*const*", base(to));
    }
    if let Some(to) = kind.strip_prefix("*mut *mut ") {
        return format!("{}**", base(to));
    }
    if let Some(to) = kind.strip_prefix("*const ") {
        return format!("const{}*", base(to));
    }
    match kind.strip_prefix("*mut ") {
        Some(to) => format!("{}*", base(to)),
        None => base(kind).to_owned(),
    }
}

fn base(kind: &str) -> &str {
    match kind {
        "u8" => "uint8_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "i32" => "int32_t",
        "usize" => "size_t",
        "isize" => "ptrdiff_t",
        "c_char" => "char",
        "c_int" => "int",
        "c_void" => "void",
        own => {
            assert!(own.starts_with("lanelock_"), "{own} is not a type for C");
            own
        }
    }
}

/// Functions by name: as C declares them, and their bodies.
fn functions() -> BTreeMap<String, (String, String)> {
    let sources = sources();
    let exported = sources.split("#[unsafe(no_mangle)]").skip(1);
    let found = exported.map(|text| {
        let (start, rest) = text.split_once("extern \"C\" fn ").expect("C's convention");
        assert!(
            start.trim() == "pub" || start.trim() == "pub unsafe",
            "{start}"
        );
        let (signature, body) = rest.split_once(" {\n").expect("a body");
        let (name, rest) = signature.split_once('(').expect("arguments");
        let (arguments, result) = rest.rsplit_once(')').expect("arguments");
        let arguments = arguments.split(',').map(str::trim);
        let arguments: Vec<_> = arguments
            .filter(|it| !it.is_empty())
            .map(declared)
            .collect();
        let arguments = if arguments.is_empty() {
            "void".to_owned()
        } else {
            arguments.join(",")
        };
        let result = pointed(result.trim().strip_prefix("-> ").expect("a result"));
        let body = body.split("\n}\n").next().unwrap_or_default();
        (
            name.to_owned(),
            (format!("{result}{name}({arguments});"), body.to_owned()),
        )
    });
    found.collect()
}

#[test]
fn every_function_is_declared_as_it_is_defined() {
    let (header, functions) = (squeezed(&header()), functions());
    for (declaration, _) in functions.values() {
        assert!(
            header.contains(declaration),
            "{declaration} is not in lanelock.h"
        );
    }
    let declared = header.matches(");").count();
    assert_eq!(
        declared,
        functions.len(),
        "lanelock.h declares another number of functions"
    );
    assert!(functions.len() > 40);
}

#[test]
fn every_structure_and_constant_is_declared_as_it_is_defined() {
    let (sources, header) = (sources(), squeezed(&header()));
    let structures = sources.split("#[repr(C)]").skip(1);
    let mut count = 0;
    for text in structures {
        let (_, text) = text.split_once("pub struct ").expect("a structure");
        let (name, rest) = text.split_once(" {").expect("fields");
        let (fields, _) = rest.split_once("\n}").expect("an end");
        let fields = fields
            .split(",\n")
            .filter_map(|field| field.trim().strip_prefix("pub "));
        let fields: String = fields
            .map(|field| format!("{};", declared(field.trim_end_matches(','))))
            .collect();
        let declaration = format!("typedef{name}{{{fields}}}{name};");
        assert!(
            header.contains(&declaration),
            "{declaration} is not in lanelock.h"
        );
        count += 1;
    }
    assert_eq!(
        header.matches("}lanelock_").count(),
        count,
        "structures in lanelock.h"
    );
    let defined = lanelock_constants(&sources, "pub const ", ": ");
    let declared = lanelock_constants(&read(&path("include/lanelock.h")), "#define ", " ");
    let differ: Vec<_> = defined.symmetric_difference(&declared).collect();
    assert!(differ.is_empty(), "constants: {differ:?}");
    assert!(count > 10 && defined.len() > 100);
}

/// Names and numbers; macros that are not numbers are left out.
fn lanelock_constants(text: &str, start: &str, between: &str) -> BTreeSet<(String, i64)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(start));
    let constants = lines.filter_map(|line| {
        let (name, value) = line.split_once(between)?;
        let value = value.rsplit("= ").next()?.trim_matches([';', '(', ')']);
        let digits = value.replace('_', "");
        let value = match digits.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok()?,
            None => digits.parse().ok()?,
        };
        name.starts_with("LANELOCK_")
            .then(|| (name.to_owned(), value))
    });
    constants.collect()
}

#[test]
fn every_function_is_one_call_of_the_boundary() {
    // They return constants, and cannot panic.
    let constant = ["abi_version", "key_reason", "strerror", "version"];
    for (name, (_, body)) in functions() {
        if constant.iter().any(|it| name == format!("lanelock_{it}")) {
            continue;
        }
        let body = body
            .trim_start()
            .trim_start_matches("unsafe {")
            .trim_start();
        let called = ["boundary(", "counted(", "made("];
        assert!(
            called.iter().any(|it| body.starts_with(it)),
            "{name}: {body}"
        );
    }
}

#[test]
fn every_function_is_called_by_a_test_in_c() {
    let tests = all("tests/c", "c") + &read(&path("tests/c/check.h"));
    for name in functions().keys() {
        assert!(tests.contains(&format!("{name}(")), "no test calls {name}");
    }
    let misused: BTreeSet<_> = tests
        .match_indices("lanelock_")
        .map(|(at, _)| &tests[at..])
        .filter(|call| {
            call.split(';')
                .next()
                .is_some_and(|call| call.contains("NULL"))
        })
        .filter_map(|call| call.split('(').next())
        .collect();
    for (name, (declaration, _)) in functions() {
        let has_pointers = declaration
            .split_once('(')
            .is_some_and(|it| it.1.contains('*'));
        assert!(
            !has_pointers || misused.contains(name.as_str()),
            "{name} is never given NULL"
        );
    }
}

#[test]
fn cbindgen_writes_the_same_header() {
    let cbindgen = std::env::var_os("CBINDGEN").unwrap_or_else(|| "cbindgen".into());
    let version = Command::new(&cbindgen).arg("--version").output();
    if !version.is_ok_and(|said| said.status.success()) {
        println!("skipped: cbindgen is not installed; the other tests compare without it");
        return;
    }
    let output = Command::new(path("../../tools/header"))
        .arg("--check")
        .output();
    let output = output.expect("a shell");
    let difference = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "run tools/header:\n{difference}");
}
