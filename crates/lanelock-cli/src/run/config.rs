//! The configuration under which the program runs: the user's own, and what activates the module.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::user_config::UserConfig;
use crate::failure::Failure;

/// Text for OpenSSL's configuration parser (config(5)), and what there is to say about it.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) text: String,
    pub(super) warnings: Vec<String>,
}

/// A configuration file, which goes with this value.
#[derive(Debug)]
pub struct ConfigFile {
    path: PathBuf,
    _folder: TempDir,
}

/// The default properties: lanelock where it has an algorithm, and any other provider elsewhere.
const PROPERTIES: &str = "?provider=lanelock";

impl Config {
    /// Includes the file `user` and loads `module` with `deadline`.
    ///
    /// What the user's configuration names stays: its initialisation section, its list of
    /// providers and its algorithm section are added to, by OpenSSL's rule that a section may be
    /// opened again and that the last value counts.
    ///
    /// # Errors
    /// [`Failure::Usage`] if a path or a name cannot be written in a configuration.
    pub(super) fn new(
        module: &Path,
        user: Option<&Path>,
        deadline: Option<u64>,
    ) -> Result<Self, Failure> {
        let found = match user {
            Some(path) => UserConfig::read(path)?,
            None => UserConfig::default(),
        };
        let mut text = String::from("# Written by `lanelock run`; goes with the program.\n");
        if let Some(user) = user {
            let _ = writeln!(text, ".include {}", plain(user)?);
        }
        let init = found.name("default", "openssl_conf", "lanelock_init")?;
        let providers = found.name(&init, "providers", "lanelock_providers")?;
        let algorithms = found.name(&init, "alg_section", "lanelock_algorithms")?;
        let default = found.name(&providers, "default", "lanelock_default")?;
        let mut warnings = Vec::new();
        let properties = match found.get(&algorithms, "default_properties") {
            None | Some("") => PROPERTIES.to_owned(),
            Some(theirs) if theirs.contains("provider") => {
                warnings.push(format!(
                    "your configuration has default_properties = {theirs}, which chooses a \
                     provider already: lanelock runs only what asks for it; to prefer it, add \
                     `{PROPERTIES}` there"
                ));
                theirs.to_owned()
            }
            Some(theirs) => format!("{theirs},{PROPERTIES}"),
        };
        let _ = write!(
            text,
            "[default]\nopenssl_conf = {init}\n\
             [{init}]\nproviders = {providers}\nalg_section = {algorithms}\n\
             [{providers}]\ndefault = {default}\nlanelock = lanelock_module\n\
             [{default}]\nactivate = 1\n\
             [lanelock_module]\nmodule = {}\nactivate = 1\n",
            plain(module)?
        );
        if let Some(deadline) = deadline {
            let _ = writeln!(text, "deadline = {deadline}");
        }
        let _ = writeln!(text, "[{algorithms}]\ndefault_properties = {properties}");
        Ok(Self { text, warnings })
    }

    /// Writes it where everybody can read it, the workers of a server that changes its user too:
    /// in memory, if this system has a folder for that.
    ///
    /// # Errors
    /// [`Failure::Output`].
    pub(super) fn write(&self) -> Result<ConfigFile, Failure> {
        let memory = Path::new("/dev/shm");
        let parent = match memory.is_dir() {
            true => memory.to_owned(),
            false => std::env::temp_dir(),
        };
        let failure = |error| Failure::Output {
            to: parent.join("lanelock-…/openssl.cnf").display().to_string(),
            error,
        };
        let folder = tempfile::Builder::new()
            .prefix("lanelock-")
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(&parent)
            .map_err(failure)?;
        let path = folder.path().join("openssl.cnf");
        let mut file = fs::File::create_new(&path).map_err(failure)?;
        let readable = Permissions::from_mode(0o644);
        file.write_all(self.text.as_bytes())
            .and_then(|()| file.set_permissions(readable))
            .and_then(|()| fs::set_permissions(folder.path(), Permissions::from_mode(0o755)))
            .map_err(failure)?;
        Ok(ConfigFile {
            path,
            _folder: folder,
        })
    }
}

impl ConfigFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// A path as the parser reads it.
fn plain(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| {
        let special = |c: char| c.is_control() || "\\#$\"'`".contains(c);
        !text.contains(special) && text.trim() == *text
    });
    text.map(str::to_owned).ok_or_else(|| {
        Failure::Usage(format!(
            "{}: OpenSSL's configuration cannot hold this path: it has one of \\ # $ \" ' ` in \
             it, or is not UTF-8; use another place, or a link",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(user: &str, deadline: Option<u64>) -> Config {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(user.as_bytes()).expect("its content");
        Config::new(Path::new("/lib/lanelock.so"), Some(file.path()), deadline).expect("sound")
    }

    /// The text behind the line that includes the user's file.
    fn added(config: &Config) -> Vec<&str> {
        config.text.lines().skip(2).collect()
    }

    #[test]
    fn an_empty_configuration_gets_sections_of_our_own() {
        assert_eq!(
            added(&config("", Some(50))),
            [
                "[default]",
                "openssl_conf = lanelock_init",
                "[lanelock_init]",
                "providers = lanelock_providers",
                "alg_section = lanelock_algorithms",
                "[lanelock_providers]",
                "default = lanelock_default",
                "lanelock = lanelock_module",
                "[lanelock_default]",
                "activate = 1",
                "[lanelock_module]",
                "module = /lib/lanelock.so",
                "activate = 1",
                "deadline = 50",
                "[lanelock_algorithms]",
                "default_properties = ?provider=lanelock",
            ]
        );
    }

    #[test]
    fn the_users_sections_are_added_to() {
        let config = config(
            "openssl_conf = mine\n[mine]\nproviders = list # all\nalg_section=algs\n\
             [list]\ndefault = usual\nlegacy = old\n[algs]\ndefault_properties = \"?fast=yes\"\n",
            None,
        );
        assert!(config.text.starts_with("# Written") && config.warnings.is_empty());
        assert_eq!(
            added(&config)[..9],
            [
                "[default]",
                "openssl_conf = mine",
                "[mine]",
                "providers = list",
                "alg_section = algs",
                "[list]",
                "default = usual",
                "lanelock = lanelock_module",
                "[usual]",
            ]
        );
        let last = "[algs]\ndefault_properties = ?fast=yes,?provider=lanelock\n";
        assert!(config.text.ends_with(last), "{}", config.text);
    }

    #[test]
    fn a_provider_that_the_user_has_chosen_stays_chosen() {
        let config = config(
            "openssl_conf=a\n[a]\nalg_section=b\n[b]\ndefault_properties=provider=default\n",
            None,
        );
        assert!(
            config
                .text
                .ends_with("default_properties = provider=default\n")
        );
        assert!(
            config.warnings[0].contains("provider=default"),
            "{config:?}"
        );
    }

    #[test]
    fn the_file_goes_with_the_value() {
        let file = config("", None).write().expect("a file");
        let path = file.path().to_owned();
        let mode = fs::metadata(&path)
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o644);
        drop(file);
        assert!(!path.exists() && !path.parent().expect("its folder").exists());
    }

    #[test]
    fn a_path_that_the_parser_would_change_is_refused() {
        let error = Config::new(Path::new("/a$b/lanelock.so"), None, None).expect_err("refused");
        assert!(
            error.to_string().starts_with("/a$b/lanelock.so: "),
            "{error}"
        );
    }
}
