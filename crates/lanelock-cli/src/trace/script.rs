//! The scripts of `trace/`, for the files of one program.

use super::libraries::Libraries;
use super::library::Library;

const HANDSHAKES: &str = include_str!("handshakes.bt");
const CRYPTO: &str = include_str!("crypto.bt");
const BATCHES: &str = include_str!("batches.bt");

const LIBSSL: &str = "/usr/lib/x86_64-linux-gnu/libssl.so.3";
const LIBCRYPTO: &str = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3";
const MODULE: &str = "/usr/lib/x86_64-linux-gnu/ossl-modules/lanelock.so";

/// Handshakes of `root` and its descendants, through this libssl.
pub(super) fn handshakes(libssl: &Library, root: u32) -> String {
    within_tree(HANDSHAKES, &[], root).replace(LIBSSL, &libssl.probed())
}

/// Public-key operations of `root` and its descendants, in the libcrypto of these libraries; their
/// libssl tells who they are.
pub(super) fn crypto(libraries: &Libraries, root: u32) -> String {
    in_libraries(&within_tree(CRYPTO, &[], root), libraries)
}

/// Batches of `root` and its descendants, in this module; `libraries` tell who
/// they are.
pub(super) fn batches(module: &Library, libraries: &Libraries, root: u32) -> String {
    // Programs without TLS make jobs themselves.
    let text = within_tree(BATCHES, &[&format!("{LIBCRYPTO}:ASYNC_WAIT_CTX_new")], root);
    in_libraries(&text, libraries).replace(MODULE, &module.probed())
}

fn in_libraries(script: &str, libraries: &Libraries) -> String {
    let script = script.replace(LIBSSL, &libraries.ssl.probed());
    script.replace(LIBCRYPTO, &libraries.crypto.probed())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> Library {
        Library::named(std::path::Path::new("/proc/self/exe")).expect("this test")
    }

    #[test]
    fn scripts_probe_the_files_that_are_given() {
        let libraries = Libraries {
            ssl: library(),
            module: None,
            crypto: library(),
        };
        let module = library();
        let scripts = [
            (handshakes(&libraries.ssl, 7), vec![&libraries.ssl]),
            (
                crypto(&libraries, 7),
                vec![&libraries.ssl, &libraries.crypto],
            ),
            (
                batches(&module, &libraries, 7),
                vec![&libraries.ssl, &libraries.crypto, &module],
            ),
        ];
        for (script, probed) in scripts {
            assert!(!script.contains("/usr/lib"), "{script}");
            assert!(!script.contains("TRACED"), "{script}");
            for library in probed {
                assert!(script.contains(&library.probed()), "{script}");
            }
        }
    }

    #[test]
    fn only_the_tree_is_counted() {
        let script = handshakes(&library(), 4711);
        assert!(script.contains("$number->nr == 4711"));
        assert!(script.contains("/@tree[pid] != 0 && retval != 0/"));
        assert_eq!(script.matches("BEGIN\n").count(), 1);
    }
}
