//! The scripts of `trace/`, for the files of one program.

use std::path::Path;

use super::libraries::Libraries;
use crate::failure::Failure;

const HANDSHAKES: &str = include_str!("../../../../trace/handshakes.bt");
const CRYPTO: &str = include_str!("../../../../trace/crypto.bt");
const BATCHES: &str = include_str!("../../../../trace/batches.bt");

const LIBSSL: &str = "/usr/lib/x86_64-linux-gnu/libssl.so.3";
const LIBCRYPTO: &str = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3";
const MODULE: &str = "/usr/lib/x86_64-linux-gnu/ossl-modules/lanelock.so";

/// Handshakes of `root` and its descendants, through this libssl.
pub(super) fn handshakes(libssl: &Path, root: u32) -> Result<String, Failure> {
    let text = within_tree(HANDSHAKES, &[], root);
    Ok(text.replace(LIBSSL, probed(libssl)?))
}

/// Public-key operations of `root` and its descendants, in this libcrypto; `libssl` tells who they
/// are.
pub(super) fn crypto(libcrypto: &Path, libssl: &Path, root: u32) -> Result<String, Failure> {
    let text = within_tree(CRYPTO, &[], root);
    let text = text.replace(LIBSSL, probed(libssl)?);
    Ok(text.replace(LIBCRYPTO, probed(libcrypto)?))
}

/// Batches of `root` and its descendants, in this module; `libraries` tell who
/// they are.
pub(super) fn batches(module: &Path, libraries: &Libraries, root: u32) -> Result<String, Failure> {
    // Programs without TLS make jobs themselves.
    let text = within_tree(BATCHES, &[&format!("{LIBCRYPTO}:ASYNC_WAIT_CTX_new")], root);
    let text = text.replace(LIBSSL, probed(&libraries.ssl)?);
    let text = text.replace(LIBCRYPTO, probed(&libraries.crypto)?);
    Ok(text.replace(MODULE, probed(module)?))
}

/// The script with processes told apart when they make their first connection, or call the first of
/// `others`: an ancestor of those that are traced has the number `root`. Numbers are compared in the
/// name space of bpftrace, which is this process's own.
fn within_tree(script: &str, others: &[&str], root: u32) -> String {
    let mut calls = format!("uprobe:{LIBSSL}:SSL_new");
    for other in others {
        calls = format!("{calls},\nuprobe:{other}");
    }
    let walk = format!(
        "{calls}
/@seen[pid] == 0/
{{
	@seen[pid] = 1;
	$task = (struct task_struct *)curtask;
	$generation = 0;
	while ($generation < 16) {{
		$process = $task->group_leader->thread_pid;
		if ((uint64)$process->level >= @level) {{
			$number = (struct upid *)$process->numbers + @level;
			if ($number->nr == {root}) {{
				@tree[pid] = 1;
				$generation = 16;
			}}
		}}
		$task = $task->real_parent;
		$generation = $generation + 1;
	}}
}}
"
    );
    let level = "BEGIN
{
	@level = (uint64)((struct task_struct *)curtask)->group_leader->thread_pid->level;
";
    let script = script
        .replace("#define TRACED 1\n", "")
        .replace("/TRACED", "/@tree[pid] != 0")
        .replacen("BEGIN\n{\n", level, 1);
    format!("{script}\n{walk}")
}

/// A path as bpftrace can read it in a probe.
fn probed(path: &Path) -> Result<&str, Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-@".contains(c);
    match path.to_str() {
        Some(text) if text.chars().all(plain) => Ok(text),
        _ => Err(Failure::Failed(format!(
            "bpftrace cannot probe a file of this name: {}; letters, digits and / . _ + - @ are \
             possible",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_probe_the_files_that_are_given() {
        let libraries = Libraries {
            ssl: "/opt/a/libssl.so.3".into(),
            module: None,
            crypto: "/opt/a/libcrypto.so.3".into(),
        };
        let Libraries { ssl, crypto, .. } = &libraries;
        let scripts = [
            handshakes(ssl, 7),
            self::crypto(crypto, ssl, 7),
            batches(Path::new("/opt/b/lanelock.so"), &libraries, 7),
        ];
        for script in scripts {
            let script = script.expect("plain names");
            assert!(!script.contains("/usr/lib"), "{script}");
            assert!(!script.contains("TRACED"), "{script}");
        }
    }

    #[test]
    fn only_the_tree_is_counted() {
        let script = handshakes(Path::new("/opt/libssl.so.3"), 4711).expect("a plain name");
        assert!(script.contains("$number->nr == 4711"));
        assert!(script.contains("/@tree[pid] != 0 && retval != 0/"));
        assert_eq!(script.matches("BEGIN\n").count(), 1);
    }

    #[test]
    fn names_that_would_end_the_probe_are_refused() {
        for name in [
            "/opt/a b/libssl.so",
            "/opt/a:b/libssl.so",
            "/opt/\"/libssl.so",
        ] {
            let refused = handshakes(Path::new(name), 1).expect_err(name);
            assert!(refused.to_string().contains(name), "{refused}");
        }
    }
}
