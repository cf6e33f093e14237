//! The program as a service: its process number, signals, and what a service manager hears.

use std::fs;
use std::io::{BufRead, BufReader, IoSliceMut, Lines};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};

use super::Scene;

/// Prints the number of each signal that it gets, TERM apart, which ends it. Signals are waited for,
/// not handled: one that comes between a handler and the next pause would only be noticed with another.
const SIGNALS: &str = "\
import os, signal
signals = signal.valid_signals() - {9, 15, 19}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
os.write(1, b'%d\\n' % os.getpid())
while True: os.write(1, b'%d\\n' % signal.sigwait(signals))
";

/// Ends with its standard input; tells the manager that it is ready, and whom it was told that the
/// manager's sockets and watchdog are for.
const READY: &str = "\
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
words = [os.environ[name] for name in ('LISTEN_PID', 'WATCHDOG_PID')]
state = ' '.join(['READY=1', *words, str('OPENSSL_CONF' in os.environ)])
s.sendto(state.encode(), os.environ['NOTIFY_SOCKET'])
sys.stdin.read()
";

struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    /// Python's text, under the command.
    fn start(scene: &Scene, options: &[&str], text: &str) -> Self {
        let mut command = scene.lanelock();
        command.args(options).args(["--", "python3", "-c", text]);
        Self::spawn(&mut command)
    }

    fn spawn(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn number(&mut self) -> u32 {
        self.lines.next().unwrap().unwrap().parse().unwrap()
    }

    fn kill(&self, signal: u32) {
        kill(self.child.id(), signal);
    }
}

fn kill(pid: u32, signal: u32) {
    let status = Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

fn state(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat[stat.rfind(')').unwrap() + 2..].chars().next().unwrap()
}

fn wait_for_state(pid: u32, is_right: impl Fn(char) -> bool) {
    for _ in 0..6000 {
        if is_right(state(pid)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("process {pid} is in state {}", state(pid));
}

#[test]
fn the_command_becomes_the_program() {
    let scene = Scene::new();
    let mut program = Program::start(&scene, &[], SIGNALS);
    assert_eq!(program.number(), program.child.id());
    program.kill(15);
    program.child.wait().unwrap();
}

/// From SIGHUP to the last real-time signal, but for what stops or ends a process whatever it does,
/// what its own faults and children cause, and what this test was started to ignore.
#[test]
fn a_command_that_waits_passes_every_signal_on() {
    const OTHERS: [u32; 13] = [4, 5, 7, 8, 9, 11, 13, 15, 17, 19, 31, 32, 33];
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    let is_sent = |signal: &u32| !OTHERS.contains(signal) && ignored & 1 << (signal - 1) == 0;

    let scene = Scene::new();
    let mut program = Program::start(&scene, &["--stats"], SIGNALS);
    assert_ne!(program.number(), program.child.id());
    for signal in (1..=64).filter(is_sent) {
        program.kill(signal);
        assert_eq!(program.number(), signal);
    }
    program.kill(15);
    assert_eq!(program.child.wait().unwrap().code(), Some(128 + 15));
}

/// As a shell's job: both stop, and both go on.
#[test]
fn stopping_and_continuing_are_passed_on() {
    let scene = Scene::new();
    let text = "import os, sys; os.write(1, b'%d\\n' % os.getpid()); sys.stdin.read()";
    let mut command = scene.lanelock();
    command.args(["--stats", "--", "python3", "-c", text]);
    // A process group whose starter is of another one, as a shell's job is: in an orphaned group, as
    // this test's may be, the kernel stops nothing.
    let mut program = Program::spawn(command.process_group(0));
    let inner = program.number();
    let outer = program.child.id();
    kill(outer, 20);
    for pid in [inner, outer] {
        wait_for_state(pid, |state| state == 'T');
    }
    kill(outer, 18);
    for pid in [inner, outer] {
        wait_for_state(pid, |state| state != 'T');
    }
    drop(program.child.stdin.take());
    assert!(program.child.wait().unwrap().success());
}

/// A service manager's socket, at this path.
struct Manager {
    socket: UnixDatagram,
    path: std::path::PathBuf,
}

impl Manager {
    fn new(scene: &Scene) -> Self {
        let path = scene.path("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        rustix::net::sockopt::set_socket_passcred(&socket, true).unwrap();
        Self { socket, path }
    }

    /// The next message, and the process that the kernel says it is from.
    fn message(&self) -> (String, u32) {
        let mut bytes = [0; 64];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [IoSliceMut::new(&mut bytes)];
        let received = rustix::net::recvmsg(
            &self.socket,
            &mut slices,
            &mut ancillary,
            RecvFlags::empty(),
        );
        let len = received.unwrap().bytes;
        let Some(RecvAncillaryMessage::ScmCredentials(sender)) = ancillary.drain().next() else {
            panic!("no credentials");
        };
        let sender = sender.pid.as_raw_nonzero().get().unsigned_abs();
        (String::from_utf8(bytes[..len].to_vec()).unwrap(), sender)
    }

    /// Starts a service, of which this process number is the main one; a unit's ExecStart.
    fn start(&self, scene: &Scene, options: &[&str]) -> Program {
        let mut command = Command::new("sh");
        let script = "LISTEN_PID=$$ WATCHDOG_PID=$$ exec \"$@\"";
        let lanelock = scene.lanelock();
        command
            .args(["-c", script, "sh"])
            .arg(lanelock.get_program());
        command.args(lanelock.get_args()).args(options);
        command.args(["--", "python3", "-c", READY]);
        command.env("LANELOCK_PROVIDER", scene.path("lanelock.so"));
        command.env("XDG_CACHE_HOME", scene.path(""));
        command
            .env_remove("OPENSSL_CONF")
            .env("NOTIFY_SOCKET", &self.path);
        Program::spawn(&mut command)
    }
}

#[test]
fn a_service_is_ready_by_its_main_process() {
    let scene = Scene::new();
    let manager = Manager::new(&scene);
    let mut service = manager.start(&scene, &[]);
    let pid = service.child.id();
    assert_eq!(
        manager.message(),
        (format!("READY=1 {pid} {pid} True"), pid)
    );
    drop(service.child.stdin.take());
    assert!(service.child.wait().unwrap().success());
}

#[test]
fn a_command_that_waits_makes_the_program_the_main_process() {
    let scene = Scene::new();
    let manager = Manager::new(&scene);
    let mut service = manager.start(&scene, &["--stats"]);
    let (message, sender) = manager.message();
    assert_eq!(sender, service.child.id());
    let pid: u32 = message.strip_prefix("MAINPID=").unwrap().parse().unwrap();
    assert_ne!(pid, sender);
    assert_eq!(
        manager.message(),
        (format!("READY=1 {pid} {pid} True"), pid)
    );
    drop(service.child.stdin.take());
    assert!(service.child.wait().unwrap().success());
}
