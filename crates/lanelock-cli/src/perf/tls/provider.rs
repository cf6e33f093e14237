//! Where the provider's module is.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::failure::Failure;
use crate::run::module;

/// What the command line says about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Provider {
    /// `none`.
    None,
    /// This file.
    File(PathBuf),
}

impl Provider {
    /// The module to load, `None` if there is to be none.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it is not where it is looked for.
    pub(super) fn find(wanted: Option<&Self>) -> Result<Option<PathBuf>, Failure> {
        let looked_for = match wanted {
            Some(Self::None) => return Ok(None),
            Some(Self::File(path)) => path.clone(),
            None => return module::find().map(Some),
        };
        // Servers change their folder.
        match looked_for.canonicalize() {
            Ok(path) if path.is_file() => Ok(Some(path)),
            _ => Err(missing(&looked_for)),
        }
    }
}

fn missing(path: &Path) -> Failure {
    Failure::Usage(format!(
        "--provider {}: no such file; build it with `make build`, name it with --provider FILE, or \
         measure without it with --provider none",
        path.display()
    ))
}

impl FromStr for Provider {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "none" => Self::None,
            path => Self::File(path.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_module_is_told_with_the_remedy() {
        let wanted = Provider::File("/nonexistent/lanelock.so".into());
        let text = Provider::find(Some(&wanted)).expect_err("missing");
        assert!(text.to_string().contains("/nonexistent/lanelock.so"));
        assert!(text.to_string().contains("--provider none"));
        assert_eq!(Provider::find(Some(&Provider::None)).expect("none"), None);
    }
}
