//! Writes the public API of the crates that applications and engines are written against as text,
//! a file for each: `public-api FOLDER`, in the workspace's root.
//!
//! rustdoc's JSON is unstable: stable toolchains write it with `RUSTC_BOOTSTRAP`, which the script
//! `rustdoc` beside this package's manifest sets for rustdoc alone. A release of `public-api` reads
//! one version of the format; with another, this ends with [`NOT_COMPARABLE`].

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The façade, and what engines are written against.
const CRATES: [&str; 3] = ["lanelock", "lanelock-core", "lanelock-public-key"];

/// The exit code where rustdoc writes another format.
const NOT_COMPARABLE: u8 = 3;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: public-api FOLDER")?;
    fs::create_dir_all(&folder)?;
    for name in CRATES {
        let json = rustdoc(name)?;
        let version = format_version(&json)?;
        if version != rustdoc_types::FORMAT_VERSION {
            eprintln!(
                "public-api: rustdoc writes format {version}, and this tool reads format {}",
                rustdoc_types::FORMAT_VERSION
            );
            return Ok(ExitCode::from(NOT_COMPARABLE));
        }
        let file = Path::new(&folder).join(name).with_extension("txt");
        fs::write(file, text(&json)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the JSON of a crate with its default features; returns the path.
fn rustdoc(name: &str) -> Result<String, Box<dyn Error>> {
    let wrapper = fs::canonicalize("tools/public-api/rustdoc")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["rustdoc", "--quiet", "--lib", "--package", name, "--"])
        .args(["-Z", "unstable-options", "--output-format", "json"])
        .args(["--cap-lints", "allow"])
        .env("RUSTDOC", wrapper)
        .env_remove("RUSTDOCFLAGS")
        .status()?;
    if !status.success() {
        return Err(format!("cargo rustdoc of {name}: {status}").into());
    }
    Ok(format!("target/doc/{}.json", name.replace('-', "_")))
}

fn format_version(json: &str) -> Result<u32, Box<dyn Error>> {
    let value: serde_json::Value = serde_json::from_slice(&fs::read(json)?)?;
    let version = value["format_version"]
        .as_u64()
        .ok_or("no format_version")?;
    Ok(version.try_into()?)
}

/// One item a line, without what is derived or implemented for every type.
fn text(json: &str) -> Result<String, Box<dyn Error>> {
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    Ok(api.items().map(|item| format!("{item}\n")).collect())
}
