//! The configuration under which the program runs: the user's own, and what activates the module.

use std::fmt::Write as _;
use std::path::Path;

use super::user_config::{UserConfig, quoted};
use super::{Algorithm, Options};
use crate::failure::Failure;

/// Text for OpenSSL's configuration parser (config(5)), and what there is to say about it.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) text: String,
    pub(super) warnings: Vec<String>,
}

/// The default properties: lanelock where it has an algorithm, and any other provider elsewhere.
const PROPERTIES: &str = "?provider=lanelock";

impl Config {
    /// Includes the file `user`, which says `found`, and loads `module` with `options`.
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
        found: &UserConfig,
        options: &Options,
    ) -> Result<Self, Failure> {
        let mut text = String::from("# Written by `lanelock run`.\n");
        if let Some(user) = user {
            let _ = writeln!(text, ".include {}", plain(user)?);
        }
        let init = found.name("default", "openssl_conf", "lanelock_init")?;
        let providers = found.name(&init, "providers", "lanelock_providers")?;
        let algorithms = found.name(&init, "alg_section", "lanelock_algorithms")?;
        let default = found.name(&providers, "default", "lanelock_default")?;
        let mut warnings = Vec::new();
        let properties = match found.plain(&algorithms, "default_properties")? {
            None | Some("") => PROPERTIES.to_owned(),
            Some(theirs) if prefers_lanelock(theirs) => theirs.to_owned(),
            Some(theirs) if clauses(theirs).any(|(name, _)| name == "provider") => {
                warnings.push(format!(
                    "your configuration has default_properties = {theirs}, which already chooses a \
                     provider: lanelock runs only operations that ask for it; to prefer lanelock, \
                     write `{PROPERTIES}` there instead"
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
        if let Some(deadline) = options.deadline {
            let _ = writeln!(text, "deadline = {deadline}");
        }
        if let Some(event_loop) = options.event_loop {
            let _ = writeln!(text, "event_loop = {}", event_loop.name());
        }
        if let Some(threads) = options.threads {
            let _ = writeln!(text, "threads = {}", threads.name());
        }
        if !options.algorithms.is_empty() {
            let names: Vec<_> = options.algorithms.iter().map(Algorithm::name).collect();
            let _ = writeln!(text, "algorithms = {}", names.join(","));
        }
        let _ = writeln!(
            text,
            "[{algorithms}]\ndefault_properties = {}",
            quoted(&properties)
        );
        Ok(Self { text, warnings })
    }
}

/// The clauses of a property query: what each is about, and the rest from its operator on.
fn clauses(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split(',').map(|clause| {
        let clause = clause.trim().trim_start_matches('?').trim_start();
        let end = clause.find(|c: char| "=!".contains(c) || c.is_whitespace());
        clause.split_at(end.unwrap_or(clause.len()))
    })
}

fn prefers_lanelock(query: &str) -> bool {
    let mut clauses = clauses(query);
    clauses.any(|(name, rest)| {
        let value = rest.trim_start().strip_prefix('=').map(str::trim);
        name == "provider" && value == Some("lanelock")
    })
}

/// A path as the parser reads it.
fn plain(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| {
        let special = |c: char| c.is_control() || "\\#$\"'`".contains(c);
        !text.contains(special) && text.trim() == *text
    });
    text.map(str::to_owned).ok_or_else(|| {
        Failure::Usage(format!(
            "{}: OpenSSL's configuration cannot hold this path: it contains one of \\ # $ \" ' `, \
             or is not UTF-8; use another path, or a symbolic link",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::super::When;
    use super::*;

    fn config(user: &str, options: &Options) -> Config {
        let (module, path) = (Path::new("/lib/lanelock.so"), Path::new("/etc/openssl.cnf"));
        Config::new(module, Some(path), &UserConfig::of(user), options).expect("sound")
    }

    /// The text behind the line that includes the user's file.
    fn added(config: &Config) -> Vec<&str> {
        config.text.lines().skip(2).collect()
    }

    #[test]
    fn an_empty_configuration_gets_sections_of_our_own() {
        assert_eq!(
            added(&config(
                "",
                &Options {
                    deadline: Some(50),
                    algorithms: vec![Algorithm::Rsa, Algorithm::X25519],
                    event_loop: Some(When::Off),
                    threads: Some(When::On),
                }
            )),
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
                "event_loop = off",
                "threads = on",
                "algorithms = rsa,x25519",
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
            &Options::default(),
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
        for (theirs, is_told) in [
            ("provider=default", true),
            ("provider!=lanelock", true),
            ("?provider=lanelock", false),
            ("x=1, ? provider = lanelock", false),
        ] {
            let user =
                format!("openssl_conf=a\n[a]\nalg_section=b\n[b]\ndefault_properties={theirs}\n");
            let config = config(&user, &Options::default());
            let last = format!("default_properties = {theirs}\n");
            assert!(config.text.ends_with(&last), "{}", config.text);
            let told = config
                .warnings
                .iter()
                .any(|warning| warning.contains(theirs));
            assert_eq!(told, is_told, "{config:?}");
        }
    }

    #[test]
    fn a_path_that_the_parser_would_change_is_refused() {
        let module = Path::new("/a$b/lanelock.so");
        let error = Config::new(module, None, &UserConfig::default(), &Options::default())
            .expect_err("refused");
        assert!(
            error.to_string().starts_with("/a$b/lanelock.so: "),
            "{error}"
        );
    }
}
