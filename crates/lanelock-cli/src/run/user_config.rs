//! What an OpenSSL configuration says, as far as it is to be added to (config(5)).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Values by section and name. Variables in values are left as they are.
#[derive(Debug, Default)]
pub(super) struct UserConfig {
    values: HashMap<(String, String), String>,
}

/// Files that include each other stop here.
const MOST_INCLUDES: usize = 16;

impl UserConfig {
    /// Reads a file and those that it includes; `None` is a configuration that says nothing.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the file cannot be read.
    pub(super) fn read(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::default());
        };
        let bytes = fs::read(path).map_err(|error| {
            Failure::Usage(format!(
                "OPENSSL_CONF: {}: {error}; name a configuration that can be read, or unset it",
                path.display()
            ))
        })?;
        let mut config = Self::default();
        let mut section = "default".to_owned();
        config.parse(&String::from_utf8_lossy(&bytes), &mut section, 0);
        Ok(config)
    }

    pub(super) fn get(&self, section: &str, name: &str) -> Option<&str> {
        let key = (section.to_owned(), name.to_owned());
        self.values.get(&key).map(String::as_str)
    }

    /// The names and values of a section, in no order.
    pub(super) fn entries<'a>(
        &'a self,
        section: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let values = self.values.iter();
        values.filter_map(move |((of, name), value)| {
            (of == section).then_some((name.as_str(), value.as_str()))
        })
    }

    /// A value that can be written once more, by [`quoted`].
    ///
    /// # Errors
    /// [`Failure::Usage`] if libcrypto might read it otherwise.
    pub(super) fn plain(&self, section: &str, name: &str) -> Result<Option<&str>, Failure> {
        let special = |c: char| !c.is_ascii() || c.is_ascii_control() || "$\\#".contains(c);
        match self.get(section, name) {
            Some(value) if value.contains(special) || quote_for(value).is_none() => {
                Err(Failure::Usage(format!(
                    "the OpenSSL configuration has {name} = {value} in [{section}]: write it without \
                     variables, \\, #, non-ASCII letters, and with at most two kinds of quotes"
                )))
            }
            value => Ok(value),
        }
    }

    /// A value that is the name of a section, or `other` if there is none.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the name is made of variables, or cannot stand between brackets.
    pub(super) fn name(&self, section: &str, name: &str, other: &str) -> Result<String, Failure> {
        match self.get(section, name) {
            None | Some("") => Ok(other.to_owned()),
            Some(value) if !value.chars().all(is_of_section) => Err(Failure::Usage(format!(
                "the OpenSSL configuration has {name} = {value} in [{section}]: a section \
                 name is expected there; use only letters, digits, spaces and {PUNCTUATION}, and \
                 no variables"
            ))),
            Some(value) => Ok(value.to_owned()),
        }
    }

    /// A configuration of this text, for tests.
    #[cfg(test)]
    pub(super) fn of(text: &str) -> Self {
        let mut config = Self::default();
        config.parse(text, &mut "default".to_owned(), 0);
        config
    }

    fn parse(&mut self, text: &str, section: &mut String, depth: usize) {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            // A comment goes on in the next line, too.
            let mut line = line.to_owned();
            while line.ends_with('\\') && !line.ends_with("\\\\") {
                line.pop();
                line.push_str(lines.next().unwrap_or(""));
            }
            let line = trimmed(without_comment(&line));
            if let Some(rest) = line.strip_prefix('[') {
                if let Some((name, _)) = rest.split_once(']') {
                    trimmed(name).clone_into(section);
                }
            } else if let Some(path) = line.strip_prefix(".include") {
                let path = trimmed(trimmed(path).trim_start_matches('='));
                if depth < MOST_INCLUDES {
                    self.include(Path::new(&unquoted(path)), section, depth + 1);
                }
            } else if !line.starts_with('.')
                && let Some((name, value)) = line.split_once('=')
            {
                let (within, name) = match trimmed(name).split_once("::") {
                    Some((within, name)) => (trimmed(within).to_owned(), trimmed(name)),
                    None => (section.clone(), trimmed(name)),
                };
                let value = unquoted(trimmed(value));
                self.values.insert((within, name.to_owned()), value);
            }
        }
    }

    /// A file, or the files of a folder that end in .cnf or .conf. What cannot be read is left
    /// out, as OpenSSL leaves it out.
    fn include(&mut self, path: &Path, section: &mut String, depth: usize) {
        let base = std::env::var_os("OPENSSL_CONF_INCLUDE").map(PathBuf::from);
        let path = base.unwrap_or_default().join(path);
        let mut files = vec![path.clone()];
        if let Ok(entries) = fs::read_dir(&path) {
            let entries = entries.flatten().map(|entry| entry.path());
            let is_config = |path: &PathBuf| {
                path.extension()
                    .is_some_and(|ext| ext == "cnf" || ext == "conf")
            };
            files = entries.filter(is_config).collect();
        }
        for file in files {
            if let Ok(bytes) = fs::read(file) {
                self.parse(&String::from_utf8_lossy(&bytes), section, depth);
            }
        }
    }
}

/// Without what libcrypto takes for blanks at both ends: to it, other white space is text.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// A line up to a `#` that is neither quoted nor escaped.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '#' if quote.is_none() => return &line[..at],
            '"' | '\'' | '`' => match quote {
                None => quote = Some(c),
                Some(open) if open == c => quote = None,
                Some(_) => {}
            },
            _ => {}
        }
    }
    line
}

/// What the name of a section may hold besides letters, digits and blanks.
const PUNCTUATION: &str = "_!.%&*+,/;?@^~|-";

/// Whether libcrypto reads this within brackets: what else a value may be is the end of a name there.
fn is_of_section(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == ' ' || c == '\t' || PUNCTUATION.contains(c)
}

/// What quotes a value: within a pair of one kind, those of the others are letters like any.
const QUOTES: [char; 3] = ['"', '\'', '`'];

/// A quote that the value does not hold.
fn quote_for(value: &str) -> Option<char> {
    QUOTES.into_iter().find(|quote| !value.contains(*quote))
}

/// A value that [`UserConfig::plain`] has returned, maybe with more behind it, as libcrypto reads it.
pub(super) fn quoted(value: &str) -> String {
    match quote_for(value) {
        Some(quote) if value.contains(QUOTES) || value.trim() != value => {
            format!("{quote}{value}{quote}")
        }
        _ => value.to_owned(),
    }
}

/// A value without the quotes around its parts.
fn unquoted(value: &str) -> String {
    let mut open = None;
    let mut text = value.to_owned();
    text.retain(|c| match open {
        None if QUOTES.contains(&c) => {
            open = Some(c);
            false
        }
        Some(quote) if quote == c => {
            open = None;
            false
        }
        _ => true,
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_comments_quotes_and_continued_lines() {
        let mut config = UserConfig::default();
        let text = "a = 1 # one\n[ first ]\nb = \"x # y\"\nb2 = long\\\n er\n\
                    other::c = 3\n.pragma = dollarid:on\n[first]\nb = last\n[second\nd = 4\n";
        config.parse(text, &mut "default".to_owned(), 0);
        assert_eq!(config.get("default", "a"), Some("1"));
        assert_eq!(config.get("first", "b"), Some("last"));
        assert_eq!(config.get("first", "b2"), Some("long er"));
        assert_eq!(config.get("other", "c"), Some("3"));
        assert_eq!(config.get("first", "d"), Some("4"), "[second is no section");
        config.parse("e = \t5\u{c}\t\r\n", &mut "first".to_owned(), 0);
        assert_eq!(config.get("first", "e"), Some("5\u{c}"), "no blank");
        assert_eq!(
            without_comment(r##"x = "a#b" \# c # d"##),
            r##"x = "a#b" \# c "##
        );
    }

    #[test]
    fn comments_are_continued_and_an_escaped_backslash_continues_nothing() {
        let mut config = UserConfig::default();
        let text = "a = 1 # more \\\na = 2\n# all \\\nb = 3\nc = 4\\\\\nd = 5\ne = 6\\";
        config.parse(text, &mut "default".to_owned(), 0);
        let values = ["a", "b", "c", "d", "e"].map(|name| config.get("default", name));
        assert_eq!(
            values,
            [Some("1"), None, Some("4\\\\"), Some("5"), Some("6")]
        );
    }

    #[test]
    fn includes_go_on_in_the_section_that_they_end_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let part = folder.path().join("part.cnf");
        fs::write(&part, "[p]\nq = 1\n").expect("a file");
        fs::write(folder.path().join("ignored.txt"), "[p]\nq = 2\n").expect("a file");
        let whole = folder.path().join("whole");
        let text = format!(".include = {}\nr = 3\n", folder.path().display());
        fs::write(&whole, text).expect("a file");
        let config = UserConfig::read(Some(&whole)).expect("it can be read");
        assert_eq!(config.get("p", "q"), Some("1"));
        assert_eq!(config.get("p", "r"), Some("3"));
    }

    #[test]
    fn a_name_that_no_section_can_have_is_refused() {
        for name in ["a=b", "a(b)", "a:b", "a{b}", "é"] {
            let mut config = UserConfig::default();
            let text = format!("openssl_conf = {name}\n");
            config.parse(&text, &mut "default".to_owned(), 0);
            let error = config.name("default", "openssl_conf", "x");
            assert!(error.is_err(), "{name}");
        }
        let mut config = UserConfig::default();
        let name = "a b_!.%&*+,/;?@^~|-9";
        let text = format!("openssl_conf = {name}\n");
        config.parse(&text, &mut "default".to_owned(), 0);
        let found = config.name("default", "openssl_conf", "x");
        assert_eq!(found.ok().as_deref(), Some(name));
    }

    #[test]
    fn a_value_that_would_be_read_otherwise_is_not_written_again() {
        let value = |text: &str| {
            let mut config = UserConfig::default();
            config.parse(text, &mut "default".to_owned(), 0);
            config
                .plain("default", "p")
                .map(|value| value.map(str::to_owned))
        };
        assert_eq!(
            value("p = \"?fips=yes\"").ok(),
            Some(Some("?fips=yes".to_owned()))
        );
        let nested = value("p = \"x='y'\"z").ok().flatten();
        assert_eq!(nested.as_deref(), Some("x='y'z"));
        assert_eq!(quoted("x='y'z"), "\"x='y'z\"");
        assert_eq!(quoted(" x"), "\" x\"");
        assert_eq!(quoted("x y"), "x y");
        assert_eq!(value("q = $x").ok(), Some(None));
        let all_quotes = "p = '\"'\"'`\"";
        for text in [
            "p = \"a # b\"",
            "p = '$x'",
            "p = a\\ b",
            "p = é",
            all_quotes,
        ] {
            let error = value(text).expect_err("refused").to_string();
            assert!(error.contains("has p = "), "{error}");
        }
    }

    #[test]
    fn a_name_of_variables_is_refused() {
        let mut config = UserConfig::default();
        config.parse(
            "openssl_conf = $other::name\n",
            &mut "default".to_owned(),
            0,
        );
        let error = config
            .name("default", "openssl_conf", "x")
            .expect_err("refused");
        assert!(
            error.to_string().contains("openssl_conf = $other::name"),
            "{error}"
        );
        assert_eq!(
            config.name("default", "absent", "x").ok().as_deref(),
            Some("x")
        );
    }
}
