//! Whether an operator's configuration leaves room for another provider.
//!
//! lanelock works on the default provider's keys, so that loading it activates that one, too. Where
//! the configuration has left the default provider out, or asks for FIPS, that would undo what it
//! says: such programs run as they would without lanelock.

use std::path::Path;

use super::user_config::UserConfig;
use crate::failure::Failure;

/// Set on systems whose kernel was started in FIPS mode.
const KERNEL_FIPS: &str = "/proc/sys/crypto/fips_enabled";

/// What Red Hat's OpenSSL takes for the kernel's FIPS mode.
const FORCED_FIPS: &str = "OPENSSL_FORCE_FIPS_MODE";

/// Why a program with this configuration is not to have lanelock: what was found, and what it
/// means. `None` if it may.
///
/// # Errors
/// [`Failure::Usage`] if the configuration names a section by variables.
pub(super) fn objection(
    config: &UserConfig,
    path: Option<&Path>,
) -> Result<Option<String>, Failure> {
    let file = path.map_or_else(String::new, |path| path.display().to_string());
    let system = || Ok(system_fips().map(without_fips));
    let Some(init) = config.get("default", "openssl_conf") else {
        return system();
    };
    // For its refusal of what cannot be followed.
    config.name("default", "openssl_conf", "")?;
    if let Some(found) = fips_properties(config, init) {
        return Ok(Some(without_fips(format!("{file} has {found}"))));
    }
    let activated = activated(config, init)?;
    if activated.iter().any(|provider| provider.name == "fips") {
        return Ok(Some(without_fips(format!(
            "{file} activates the provider fips"
        ))));
    }
    let mut defaults = activated
        .iter()
        .filter(|provider| provider.name == "default");
    if activated.is_empty() || defaults.any(Provider::is_certain) {
        return system();
    }
    let mut named: Vec<_> = activated.iter().map(|provider| &*provider.name).collect();
    named.sort_unstable();
    let found = match activated.iter().find(|provider| provider.name == "default") {
        Some(default) => format!(
            "has `activate = {}` for default, which OpenSSL releases read differently",
            default.activate
        ),
        None => format!("activates {} and not default", named.join(", ")),
    };
    Ok(Some(format!(
        "{file} {found}: lanelock needs the default provider, and does not activate it against a \
         configuration that leaves it out. To use lanelock, write `activate = 1` into the section \
         of the default provider there"
    )))
}

fn without_fips(found: String) -> String {
    format!("{found}: lanelock and the default provider are not validated for FIPS 140")
}

fn system_fips() -> Option<String> {
    let kernel = std::fs::read_to_string(KERNEL_FIPS);
    if kernel.is_ok_and(|text| text.trim() == "1") {
        return Some(format!("the kernel is in FIPS mode ({KERNEL_FIPS})"));
    }
    let forced = std::env::var_os(FORCED_FIPS)?;
    Some(format!("{FORCED_FIPS} is {}", forced.display()))
}

/// A provider that a configuration activates, in the reading of one release at least.
struct Provider {
    name: String,
    activate: String,
}

impl Provider {
    /// Whether every release of OpenSSL 3 activates it: 3.0 does so whatever the value.
    fn is_certain(&self) -> bool {
        let value = self.activate.to_ascii_lowercase();
        ["1", "yes", "true", "on"].contains(&value.as_str())
    }
}

/// The providers with the word `activate` in their sections. Where there are none, libcrypto
/// activates its default provider by itself.
fn activated(config: &UserConfig, init: &str) -> Result<Vec<Provider>, Failure> {
    let mut found = Vec::new();
    for section in modules(config, init, "providers") {
        for (name, of) in config.entries(section) {
            config.name(section, name, "")?;
            let value = |wanted: &str| {
                let mut entries = config.entries(of);
                entries.find_map(|(name, value)| (after_dot(name) == wanted).then_some(value))
            };
            if let Some(activate) = value("activate") {
                found.push(Provider {
                    name: value("identity").unwrap_or(after_dot(name)).to_owned(),
                    activate: activate.to_owned(),
                });
            }
        }
    }
    Ok(found)
}

/// A setting of the algorithm section that asks for FIPS, surely or if possible.
fn fips_properties(config: &UserConfig, init: &str) -> Option<String> {
    let sections = modules(config, init, "alg_section");
    let mut entries = sections.flat_map(|section| config.entries(section));
    let asks = |name: &str, value: &str| match name {
        "default_properties" => asks_for_fips(value),
        "fips_mode" => !["no", "n", "false", "0"].contains(&value.to_ascii_lowercase().as_str()),
        _ => false,
    };
    entries.find_map(|(name, value)| asks(name, value).then(|| format!("{name} = {value}")))
}

/// Whether a query (property(7)) asks for the property fips.
fn asks_for_fips(query: &str) -> bool {
    query.split(',').any(|clause| {
        let clause = clause.trim().trim_start_matches('?').to_ascii_lowercase();
        let Some(rest) = clause.trim_start().strip_prefix("fips") else {
            return false;
        };
        match rest.trim_start().split_once('=') {
            None => rest.trim().is_empty(),
            Some(("!", value)) => value.trim() == "no",
            Some(("", value)) => value.trim() != "no",
            // Another name that begins like it.
            Some(_) => false,
        }
    })
}

/// The sections of a module of libcrypto's in the initialisation section; `name.anything` is one
/// more of them (config(5)).
fn modules<'a>(
    config: &'a UserConfig,
    init: &'a str,
    module: &'a str,
) -> impl Iterator<Item = &'a str> {
    let entries = config.entries(init);
    entries.filter_map(move |(name, section)| {
        let name = name.rsplit_once('.').map_or(name, |(name, _)| name);
        (name == module).then_some(section)
    })
}

/// libcrypto drops what comes before the first dot of a name in these sections.
fn after_dot(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objection_to(text: &str) -> Option<String> {
        let config = UserConfig::of(text);
        objection(&config, Some(Path::new("/x.cnf"))).expect("no variables")
    }

    /// A configuration that activates these providers, `=` and a value after their names if it is
    /// not 1.
    fn activating(providers: &str, algorithms: &str) -> String {
        let mut text = "openssl_conf = i\n[i]\nproviders = p\nalg_section = a\n[p]\n".to_owned();
        let sections = providers.split_whitespace().map(|provider| {
            let (name, value) = provider.split_once('=').unwrap_or((provider, "1"));
            text += &format!("{name} = {name}_section\n");
            format!("[{name}_section]\nactivate = {value}\n")
        });
        let sections: String = sections.collect();
        text + &sections + "[a]\n" + algorithms + "\n"
    }

    #[test]
    fn where_default_is_active_lanelock_may_be() {
        for text in [
            "",
            "openssl_conf = i\n",
            "[p]\nbase = b\n[b]\nactivate = 1\n",
        ] {
            assert_eq!(objection_to(text), None, "{text}");
        }
        for providers in ["", "default", "default base legacy", "default=yes base"] {
            assert_eq!(
                objection_to(&activating(providers, "")),
                None,
                "{providers}"
            );
        }
        let inactive = "openssl_conf = i\n[i]\nproviders = p\n[p]\nlegacy = l\n[l]\nx = 1\n";
        assert_eq!(objection_to(inactive), None);
    }

    #[test]
    fn a_configuration_without_default_stays_without() {
        for (providers, found) in [
            ("base", "activates base and not default: "),
            (
                "lanelock base",
                "activates base, lanelock and not default: ",
            ),
            ("1.base", "activates base and not default: "),
            ("default=0 base", "has `activate = 0` for default, "),
            ("default=no", "has `activate = no` for default, "),
        ] {
            let said = objection_to(&activating(providers, "")).expect(providers);
            assert!(said.starts_with(&format!("/x.cnf {found}")), "{said}");
        }
        let renamed = "openssl_conf = i\n[i]\nproviders.2 = p\n[p]\ndefault = b\n\
                       [b]\nidentity = base\nactivate = 1\n";
        assert!(objection_to(renamed).is_some());
    }

    #[test]
    fn fips_is_found_wherever_it_is_asked_for() {
        for (providers, algorithms) in [
            ("fips base", ""),
            ("fips default", ""),
            ("fips=no default", ""),
            ("default", "default_properties = fips=yes"),
            ("default", "default_properties = ?fips = yes"),
            ("default", "default_properties = x=1, fips"),
            ("default", "default_properties = fips!=no"),
            ("", "fips_mode = on"),
        ] {
            let said = objection_to(&activating(providers, algorithms)).expect(algorithms);
            assert!(said.ends_with("not validated for FIPS 140"), "{said}");
        }
        for algorithms in [
            "default_properties = fips=no",
            "default_properties = -fips",
            "default_properties = fips!=yes",
            "default_properties = fipsy=yes",
            "default_properties = ?provider=lanelock",
            "fips_mode = no",
        ] {
            assert_eq!(
                objection_to(&activating("default", algorithms)),
                None,
                "{algorithms}"
            );
        }
    }
}
