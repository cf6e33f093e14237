//! Collects the pages that processes announce.
//!
//! The socket has an abstract name, so that a server that has changed its root still reaches it,
//! and every process of the machine can find it. Hence three checks: the kernel drops what does not
//! begin with a secret token, so that a flood takes no room; the sender is one of this process's
//! descendants; and what it sends is a sealed memory file, which no read can wait for.

use std::fs::{self, File};
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use rustix::fs::SealFlags;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, UCred};

use super::Reader;
use super::filter::{self, TOKEN};

/// A socket for the pages of a program and its children: see [`crate::SOCKET`].
#[derive(Debug)]
pub struct Listener {
    name: String,
    socket: UnixDatagram,
    pages: Receiver<Reader>,
}

impl Listener {
    /// Starts to listen, on a thread of its own.
    ///
    /// # Errors
    /// What the kernel says against it.
    pub fn start() -> io::Result<Self> {
        let name = format!("lanelock-stats-{}", random()?);
        let token = random()?;
        let address = SocketAddr::from_abstract_name(&name)?;
        let socket = UnixDatagram::bind_addr(&address)?;
        rustix::net::sockopt::set_socket_passcred(&socket, true)?;
        let bytes = token.as_bytes().try_into().map_err(io::Error::other)?;
        filter::require(socket.as_fd(), bytes)?;
        let (sender, pages) = mpsc::channel();
        let receiving = socket.try_clone()?;
        thread::Builder::new().spawn(move || {
            while let Some(datagram) = receive(&receiving) {
                if let Some(reader) = page(datagram)
                    && sender.send(reader).is_err()
                {
                    return;
                }
            }
        })?;
        let name = format!("{name}/{token}");
        Ok(Self {
            name,
            socket,
            pages,
        })
    }

    /// The value of [`crate::SOCKET`] for those who shall announce their pages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pages that have been announced. Later ones are refused.
    ///
    /// # Errors
    /// What the kernel says against it.
    pub fn finish(self) -> io::Result<Vec<Reader>> {
        // What is in the queue is still received.
        self.socket.shutdown(Shutdown::Read)?;
        Ok(self.pages.iter().collect())
    }
}

/// The letters of a token or of a name that cannot be guessed.
fn random() -> io::Result<String> {
    let mut bytes = [0; TOKEN / 2];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

struct Datagram {
    sender: UCred,
    file: Option<File>,
}

/// The next datagram; `None` if there will be none.
fn receive(socket: &UnixDatagram) -> Option<Datagram> {
    let mut bytes = [0; TOKEN];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1), ScmCredentials(1))];
    let received = loop {
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [io::IoSliceMut::new(&mut bytes)];
        let flags = RecvFlags::CMSG_CLOEXEC;
        match rustix::net::recvmsg(socket, &mut slices, &mut ancillary, flags) {
            Ok(_) => {
                let (mut sender, mut file) = (None, None);
                for message in ancillary.drain() {
                    match message {
                        RecvAncillaryMessage::ScmRights(mut files) => file = files.next(),
                        RecvAncillaryMessage::ScmCredentials(credentials) => {
                            sender = Some(credentials);
                        }
                        _ => {}
                    }
                }
                break (sender, file);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    };
    // The kernel adds credentials to each datagram, and to the end of them none.
    let (Some(sender), file) = received else {
        return None;
    };
    let file = file.map(File::from);
    Some(Datagram { sender, file })
}

/// The page in a datagram, if all is as it should be. What is not is not looked at again.
fn page(datagram: Datagram) -> Option<Reader> {
    let file = datagram.file?;
    let seals = rustix::fs::fcntl_get_seals(&file).ok()?;
    if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
        return None;
    }
    let sender = datagram.sender;
    let is_ours = descends(sender.pid.as_raw_nonzero().get(), own()).unwrap_or_else(|| {
        // It has ended meanwhile.
        sender.uid.is_root() || sender.uid == rustix::process::geteuid()
    });
    is_ours.then(|| Reader::of(file).ok()).flatten()
}

fn own() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Whether process `pid` is `ancestor` or descends from it; `None` if there is no such process.
fn descends(pid: i32, ancestor: i32) -> Option<bool> {
    let mut at = pid;
    while at != ancestor {
        at = match parent(at) {
            Some(0) => return Some(false),
            Some(parent) => parent,
            // It has ended on the way, and its children have another parent now.
            None if at != pid => pid,
            None => return None,
        };
    }
    Some(true)
}

/// The parent of a process; 0 for the first of all.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name before may have any byte in it.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = String::from_utf8_lossy(&stat[end + 1..]);
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_descends_and_a_stranger_does_not() {
        let child = Command::new("cat").stdin(Stdio::piped()).spawn();
        let mut child = child.expect("cat");
        let pid = i32::try_from(child.id()).expect("a number");
        assert_eq!(descends(pid, own()), Some(true));
        assert_eq!(descends(own(), own()), Some(true));
        assert_eq!(descends(own(), pid), Some(false));
        drop(child.stdin.take());
        child.wait().expect("it ends");
        // Numbers end at 2^22 on Linux.
        assert_eq!(descends(1 << 23, own()), None);
    }

    #[test]
    fn datagrams_without_the_token_take_no_room() {
        let listener = Listener::start().expect("a socket");
        let value = listener.name().to_owned();
        let (name, token) = value.split_once('/').expect("two parts");
        let address = SocketAddr::from_abstract_name(name).expect("a name");
        let socket = UnixDatagram::unbound().expect("a socket");
        // The queue has room for ten or some hundreds, and the receiver may be slow.
        socket.set_nonblocking(true).expect("set");
        let mut wrong = token.to_owned().into_bytes();
        wrong[TOKEN - 1] ^= 1;
        for datagram in [b"end".as_slice(), b"", &wrong, &[b'x'; 1000]] {
            for _ in 0..2000 {
                socket.send_to_addr(datagram, &address).expect("dropped");
            }
        }
        assert!(listener.finish().expect("ended").is_empty());
    }

    #[test]
    fn rubbish_with_the_token_is_no_page_and_does_not_end_the_listening() {
        let listener = Listener::start().expect("a socket");
        let value = listener.name().to_owned();
        let (name, token) = value.split_once('/').expect("two parts");
        let address = SocketAddr::from_abstract_name(name).expect("a name");
        let socket = UnixDatagram::unbound().expect("a socket");
        for _ in 0..100 {
            socket
                .send_to_addr(token.as_bytes(), &address)
                .expect("sent");
        }
        let (sealed, plain) = (memory_file(true), memory_file(false));
        for file in [sealed, plain, File::open("/dev/null").expect("a file")] {
            crate::sender::send(name, token, &file.into()).expect("sent");
        }
        assert!(listener.finish().expect("ended").is_empty());
        assert!(socket.send_to_addr(token.as_bytes(), &address).is_err());
    }

    fn memory_file(sealed: bool) -> File {
        use rustix::fs::{MemfdFlags, fcntl_add_seals, memfd_create};
        let file = memfd_create("x", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
        let file = File::from(file.expect("a file"));
        if sealed {
            fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).expect("sealed");
        }
        file
    }
}
