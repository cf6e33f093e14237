//! Collects the pages that processes announce.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};

use super::Reader;

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
        let name = format!("lanelock-stats-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name)?;
        let socket = UnixDatagram::bind_addr(&address)?;
        let (sender, pages) = mpsc::channel();
        let receiving = socket.try_clone()?;
        thread::Builder::new().spawn(move || {
            while let Ok(Datagram::Other(file)) = receive(&receiving) {
                // What is no page is not looked at again.
                if let Some(reader) = file.and_then(|file| Reader::of(file).ok())
                    && sender.send(reader).is_err()
                {
                    return;
                }
            }
        })?;
        Ok(Self {
            name,
            socket,
            pages,
        })
    }

    /// The socket's name: the value of [`crate::SOCKET`] for those who shall announce their pages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pages that have been announced, once nobody announces any more.
    ///
    /// # Errors
    /// What the kernel says against it.
    pub fn finish(self) -> io::Result<Vec<Reader>> {
        // Datagrams keep their order: what was announced before is received before.
        let address = SocketAddr::from_abstract_name(&self.name)?;
        self.socket.send_to_addr(END, &address)?;
        Ok(self.pages.iter().collect())
    }
}

/// Ends the listening.
const END: &[u8] = b"end";

enum Datagram {
    End,
    /// With the file that it brings, if any.
    Other(Option<File>),
}

fn receive(socket: &UnixDatagram) -> io::Result<Datagram> {
    let mut bytes = [0; 16];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [io::IoSliceMut::new(&mut bytes)];
    let received =
        rustix::net::recvmsg(socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let len = received.bytes;
    let mut files = ancillary.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => files.collect(),
        _ => Vec::new(),
    });
    let file = files.next().map(File::from);
    Ok(match &bytes[..len] {
        END => Datagram::End,
        _ => Datagram::Other(file),
    })
}
