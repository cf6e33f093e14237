//! Lists the files of published vectors, and packs Wycheproof's tests: as text they are ten times as
//! long as all the code of the command that they are part of.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use wycheproof::{
    aead, cipher, dsa, ecdh, ecdsa, eddsa, mac, mac_with_nonce, mldsa_verify, mlkem, rsa_oaep,
    rsa_pkcs1_decrypt, rsa_pkcs1_verify, rsa_pss_verify, xdh,
};

/// Deflate's level: higher ones take longer, for hundredths.
const LEVEL: u8 = 6;

/// Names and texts of all tests of these modules.
macro_rules! texts {
    ($($module:ident),* $(,)?) => {{
        let mut texts = Vec::new();
        $(for test in $module::TestName::all() {
            texts.push((format!("{test:?}"), test.json_data()));
        })*
        texts
    }};
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR")?);
    let symmetric = texts!(aead, mac, mac_with_nonce, cipher);
    let public_key = texts!(
        rsa_pkcs1_verify,
        rsa_pss_verify,
        rsa_oaep,
        rsa_pkcs1_decrypt,
        ecdsa,
        ecdh,
        xdh,
        eddsa,
        dsa,
        mldsa_verify,
        mlkem,
    );
    let mut table = String::new();
    for (name, texts) in [("SYMMETRIC", symmetric), ("PUBLIC_KEY", public_key)] {
        pack(&folder, name, &texts, &mut table)?;
    }
    fs::write(folder.join("packed.rs"), table)?;
    fs::write(folder.join("vectors.rs"), vectors()?)?;
    Ok(())
}

/// Name and text of each file of vectors, in the order of their names.
fn vectors() -> Result<String, Box<dyn Error>> {
    let data = Path::new(&env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR")?)
        .join("src/vectors/data");
    println!("cargo::rerun-if-changed={}", data.display());
    let entries = fs::read_dir(data)?.map(|entry| Ok(entry?.path()));
    let mut files = entries.collect::<Result<Vec<_>, std::io::Error>>()?;
    files.sort();
    let mut table = "static FILES: &[(&str, &str)] = &[\n".to_owned();
    for file in files {
        let name = file.file_stem().and_then(|stem| stem.to_str());
        let name = name.ok_or("the names of files are UTF-8")?;
        writeln!(table, "    ({name:?}, include_str!({file:?})),")?;
    }
    table.push_str("];\n");
    Ok(table)
}

/// Writes a file for each text, and an array of them into `table`.
fn pack(
    folder: &Path,
    name: &str,
    texts: &[(String, &str)],
    table: &mut String,
) -> Result<(), Box<dyn Error>> {
    writeln!(table, "pub(crate) static {name}: &[Packed] = &[")?;
    for (at, (test, text)) in texts.iter().enumerate() {
        let file = folder.join(format!("{name}-{at}"));
        let bytes = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), LEVEL);
        fs::write(&file, bytes)?;
        writeln!(
            table,
            "    Packed {{ name: {test:?}, bytes: include_bytes!({:?}) }},",
            file.to_str().ok_or("OUT_DIR is UTF-8")?
        )?;
    }
    writeln!(table, "];")?;
    Ok(())
}
