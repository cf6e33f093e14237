//! Programs that run with more privileges than whoever starts them.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt;
use std::path::Path;

use lanelock::telemetry::reader::Reader;

use crate::alone;
use crate::child::{again_as, output_of, role};
use crate::inactive::paused;
use crate::openssl::{Key, Kind, LANELOCK, Library};
use lanelock_testkit::{copy_program, has_lanes};

const NOBODY: u32 = 65534;

/// This program and the module beside it, where anybody may run them, as their owner.
fn install(directory: &Path) -> std::path::PathBuf {
    let program = std::env::current_exe().expect("a path");
    let beside = program.with_file_name("liblanelock_provider.so");
    std::fs::create_dir_all(directory).expect("a directory");
    let copy = directory.join("program");
    copy_program(&program, &copy);
    std::fs::copy(beside, directory.join("liblanelock_provider.so")).expect("copied");
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(directory, mode(0o755)).expect("its owner");
    std::fs::set_permissions(&copy, mode(0o4755)).expect("its owner");
    copy
}

#[test]
fn the_environment_of_whoever_starts_a_setuid_program_is_not_read() {
    const TEST: &str = "privileged::the_environment_of_whoever_starts_a_setuid_program_is_not_read";
    if role().is_some() {
        println!("privileged: {}", unsafe {
            libc::geteuid() != libc::getuid()
        });
        let library = Library::new();
        let key = Key::generate(&library, Kind::Raw(c"X25519"), LANELOCK);
        println!("{} {}", key.provider(), paused(&key) > 0);
        println!("page: {}", Reader::open(std::process::id()).is_ok());
        return;
    }
    let _alone = alone();
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("SKIPPED: a setuid program; only root can make one of another user's");
        return;
    }
    let name = format!("lanelock-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let socket = UnixDatagram::bind_addr(&address).expect("a socket");
    socket.set_nonblocking(true).expect("a socket");
    let directory = std::env::temp_dir().join(&name);
    let program = install(&directory);
    let said = output_of(
        again_as(&program, TEST, "privileged")
            .env("LANELOCK_STATS_SOCKET", &name)
            .env("LANELOCK_STATS", "off")
            .env("LANELOCK_DISABLE", "1")
            .env("LANELOCK_TIER", "aesni")
            .uid(NOBODY)
            .gid(NOBODY),
    );
    std::fs::remove_dir_all(&directory).expect("removed");
    if said.contains("privileged: false\n") {
        eprintln!(
            "SKIPPED: a setuid program; {} is mounted nosuid",
            directory.display()
        );
        return;
    }
    let lanes = has_lanes();
    assert!(
        said.contains(&format!("lanelock {lanes}\npage: true\n")),
        "{said}"
    );
    let mut bytes = [0; 16];
    let sent = socket.recv(&mut bytes).map_err(|error| error.kind());
    assert_eq!(sent, Err(std::io::ErrorKind::WouldBlock), "a page was sent");
}
