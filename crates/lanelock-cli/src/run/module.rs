//! Where the provider module is.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// File name of the module, which is the provider's name in a configuration, too.
const NAME: &str = "lanelock.so";

/// The environment variable that names the module.
const VARIABLE: &str = "LANELOCK_PROVIDER";

/// The module's path.
///
/// # Errors
/// [`Failure::Usage`] with the places that were looked at.
pub fn find() -> Result<PathBuf, Failure> {
    if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return path.canonicalize().map_err(|error| {
            Failure::Usage(format!(
                "{VARIABLE}={}: {error}; name the file {NAME}, or unset it",
                path.display()
            ))
        });
    }
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let folder = own.ok().and_then(|path| Some(path.parent()?.to_owned()));
    let places = places(&folder.unwrap_or_default());
    let found = places.iter().find_map(|place| place.canonicalize().ok());
    found.ok_or_else(|| {
        let places: Vec<_> = places.iter().map(|p| p.display().to_string()).collect();
        Failure::Usage(format!(
            "{NAME}: not found; looked for {}; `make build` makes it, and {VARIABLE}=FILE names \
             it elsewhere",
            places.join(" and ")
        ))
    })
}

fn places(folder: &Path) -> [PathBuf; 2] {
    let library = folder.parent().unwrap_or(folder).join("lib/lanelock");
    [folder.join(NAME), library.join(NAME)]
}
