//! A client's socket that may carry only so much.

use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// A socket that does not block, with the bytes it may still read and write.
#[derive(Debug)]
pub(super) struct Wire {
    socket: TcpStream,
    read_left: usize,
    write_left: usize,
    /// Whether more was asked for than was left.
    pub(super) spent: bool,
}

impl Wire {
    /// Connects without waiting for it.
    pub(super) fn connect(
        address: SocketAddr,
        (read_left, write_left): (usize, usize),
    ) -> io::Result<Self> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) | Err(rustix::io::Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Self {
            socket: socket.into(),
            read_left,
            write_left,
            spent: false,
        })
    }

    /// Lets so many more bytes be written.
    pub(super) fn grant(&mut self, bytes: usize) {
        self.write_left = bytes;
        self.spent = false;
    }

    /// From here on, closing resets the connection.
    pub(super) fn reset_on_close(&self) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(
            &self.socket,
            Some(Duration::ZERO),
        )?)
    }

    /// As much of `wanted` as `left` allows.
    fn allowed(&mut self, wanted: usize, left: usize) -> io::Result<usize> {
        match wanted.min(left) {
            0 if wanted > 0 => {
                self.spent = true;
                Err(io::ErrorKind::WouldBlock.into())
            }
            allowed => Ok(allowed),
        }
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let allowed = self.allowed(buffer.len(), self.read_left)?;
        let count = self.socket.read(&mut buffer[..allowed])?;
        self.read_left -= count;
        Ok(count)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let allowed = self.allowed(bytes.len(), self.write_left)?;
        let count = unless_not_connected(self.socket.write(&bytes[..allowed]))?;
        if self.write_left < usize::MAX {
            self.write_left -= count;
        }
        Ok(count)
    }

    /// All records of a flight at once, as long as there is no limit.
    fn write_vectored(&mut self, records: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.write_left < usize::MAX {
            let first = records.iter().find(|record| !record.is_empty());
            return first.map_or(Ok(0), |record| self.write(record));
        }
        unless_not_connected(self.socket.write_vectored(records))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unless_not_connected(written: io::Result<usize>) -> io::Result<usize> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        other => other,
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn no_more_passes_than_is_allowed() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut wire = Wire::connect(address, (2, 3)).expect("a connection");
        let (mut peer, _) = listener.accept().expect("a client");
        assert_eq!(wire.write(b"hello").expect("room"), 3);
        assert!(!wire.spent);
        let refused = wire.write(b"lo").expect_err("no room");
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        assert!(wire.spent);
        let mut heard = [0; 3];
        peer.read_exact(&mut heard).expect("three bytes");
        assert_eq!(&heard, b"hel");
        wire.grant(1);
        assert!(!wire.spent);
        assert_eq!(wire.write(b"lo").expect("room"), 1);
        let mut heard = [0; 1];
        peer.read_exact(&mut heard).expect("a byte");
        assert_eq!(&heard, b"l");

        peer.write_all(b"back").expect("sent");
        wire.socket.set_nonblocking(false).expect("a mode");
        let mut buffer = [0; 9];
        assert_eq!(wire.read(&mut buffer).expect("bytes"), 2);
        assert!(wire.read(&mut buffer).is_err());
    }
}
