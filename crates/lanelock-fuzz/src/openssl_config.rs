//! The configuration that `lanelock run` adds to a user's, as libcrypto reads both.

use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lanelock_cli::readers::configuration;
use tempfile::TempDir;

use crate::nconf::Nconf;

const MODULE: &str = "/lib/lanelock.so";

/// The bytes are a user's configuration. If `lanelock run` adds to it and libcrypto accepts it, then
/// libcrypto accepts the sum, and by the sum lanelock and default are activated, every other provider
/// is what it was, and the user's default properties come first.
///
/// # Panics
/// If not.
pub fn run(data: &[u8]) {
    if !is_alone(data) {
        return;
    }
    let user = file("user.cnf", data);
    let Ok(sum) = configuration(Path::new(MODULE), &user) else {
        return;
    };
    let sum_file = file("sum.cnf", sum.as_bytes());
    let Some(before) = Found::load(&user) else {
        return;
    };
    let text = || format!("{}\nand\n{sum}", String::from_utf8_lossy(data));
    let after = Found::load(&sum_file).unwrap_or_else(|| panic!("refused: {}", text()));
    let lanelock = after.provider("lanelock");
    let module = lanelock.and_then(|provider| provider.module.as_deref());
    assert_eq!(module, Some(MODULE), "lanelock's module: {}", text());
    assert!(lanelock.is_some_and(|one| one.is_active), "{}", text());
    // What shares its section with default is activated with it.
    let shared = after.provider("default").map(|default| &default.section);
    let users = before.providers.iter().filter(|one| one.is_users());
    for theirs in users.filter(|one| Some(&one.section) != shared) {
        assert_eq!(Some(theirs), after.provider(&theirs.name), "{}", text());
    }
    // Nothing is added to a configuration that leaves default out.
    let default = after.provider("default");
    assert!(default.is_some_and(|one| one.is_active), "{}", text());
    let theirs = before.properties.unwrap_or_default();
    let ours = after.properties.unwrap_or_default();
    assert!(ours.starts_with(&theirs), "{ours}: {}", text());
}

/// What libcrypto makes of a configuration.
#[derive(Debug)]
struct Found {
    providers: Vec<Provider>,
    /// The default properties.
    properties: Option<String>,
}

#[derive(Debug, Eq, PartialEq)]
struct Provider {
    name: String,
    section: String,
    module: Option<String>,
    is_active: bool,
}

impl Provider {
    /// Not one that `lanelock run` may write over.
    fn is_users(&self) -> bool {
        self.name != "lanelock" && self.name != "default" && self.section != "lanelock_module"
    }
}

impl Found {
    fn load(path: &Path) -> Option<Self> {
        let path = CString::new(path.to_str()?).ok()?;
        let conf = Nconf::load(&path)?;
        let init = conf.get("default", "openssl_conf");
        let named = |name| conf.get(init.as_deref()?, name);
        let providers = named("providers").and_then(|list| conf.section(&list));
        let providers = providers
            .into_iter()
            .flatten()
            .map(|(name, section)| Provider {
                module: conf.get(&section, "module"),
                is_active: conf.get(&section, "activate").is_some(),
                name,
                section,
            });
        Some(Self {
            providers: providers.collect(),
            properties: named("alg_section")
                .and_then(|section| conf.get(&section, "default_properties")),
        })
    }

    fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.name == name)
    }
}

/// Whether a configuration names no other file, which might be a device without an end, and has no
/// zero, at which libcrypto stops reading a line.
fn is_alone(data: &[u8]) -> bool {
    let joined: Vec<u8> = data
        .iter()
        .filter(|byte| !b"\\\r\n\"'`".contains(byte))
        .map(u8::to_ascii_lowercase)
        .collect();
    !data.contains(&0) && !joined.windows(7).any(|seven| seven == b"include")
}

/// Writes a file of this process, in memory.
fn file(name: &str, content: &[u8]) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        folder.expect("a folder for configurations")
    });
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file in a folder of this process");
    path
}
