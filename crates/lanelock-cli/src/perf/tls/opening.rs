//! What client and server say before TLS begins, in protocols that begin without it.

use std::io::{self, ErrorKind, Read, Write};

use super::wire::Wire;

/// What a server speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Protocol {
    /// TLS from the first byte on.
    Tls,
    /// The server greets, and the client asks for TLS.
    MariaDb,
}

/// MariaDB's beginning of a connection.
#[derive(Debug, Default)]
pub(super) struct Opening {
    greeting: Vec<u8>,
    said: usize,
}

/// A packet with the number 1: what the client can do, the largest packet, its characters (utf8mb4), and
/// 23 bytes of nothing.
const REQUEST: [u8; 36] = {
    // The protocol of 4.1, TLS, its way to authenticate, and plugins by name.
    let capabilities = 0x200_u32 | 0x800 | 0x8000 | 0x8_0000;
    let [a, b, c, d] = capabilities.to_le_bytes();
    let mut packet = [0; 36];
    (packet[0], packet[3]) = (32, 1);
    (packet[4], packet[5], packet[6], packet[7]) = (a, b, c, d);
    (packet[11], packet[12]) = (1, 45);
    packet
};

impl Protocol {
    /// What comes before TLS.
    pub(super) fn opening(self) -> Option<Opening> {
        (self == Self::MariaDb).then(Opening::default)
    }
}

impl Opening {
    /// Goes as far as it can without waiting; whether TLS is next.
    pub(super) fn advance(&mut self, wire: &mut Wire) -> Result<bool, String> {
        match self.converse(wire) {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::NotConnected => Ok(false),
                _ => Err(format!("before TLS: {error}")),
            },
        }
    }

    fn converse(&mut self, wire: &mut Wire) -> io::Result<()> {
        while self.greeting.len() < self.whole() {
            let mut piece = [0; 256];
            match wire.read(&mut piece)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                count => self.greeting.extend(&piece[..count]),
            }
        }
        while self.said < REQUEST.len() {
            self.said += wire.write(&REQUEST[self.said..])?;
        }
        Ok(())
    }

    /// Bytes of the greeting, as far as is known.
    fn whole(&self) -> usize {
        match self.greeting[..] {
            [low, middle, high, ..] => 4 + u32::from_le_bytes([low, middle, high, 0]) as usize,
            _ => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_client_asks_for_tls_once_it_was_greeted() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut wire = Wire::connect(address, (usize::MAX, 30)).expect("a connection");
        let (mut server, _) = listener.accept().expect("a client");
        let mut opening = Protocol::MariaDb.opening().expect("one");
        // Nothing is said to a server that is in the middle of its greeting.
        for piece in [&[5, 0][..], &[0, 0, 10, b'1'], b".0"] {
            assert_eq!(opening.advance(&mut wire), Ok(false));
            server.write_all(piece).expect("sent");
        }
        server.set_nonblocking(true).expect("a mode");
        assert!(server.read(&mut [0; 9]).is_err());
        server.write_all(&[0]).expect("sent");
        server.set_nonblocking(false).expect("a mode");
        while !wire.spent {
            assert_eq!(opening.advance(&mut wire), Ok(false));
        }
        wire.grant(usize::MAX);
        assert_eq!(opening.advance(&mut wire), Ok(true));
        let mut heard = [0; 36];
        server.read_exact(&mut heard).expect("a packet");
        assert_eq!(heard[..4], [32, 0, 0, 1]);
        assert_eq!(heard[4..8], 0x0008_8A00_u32.to_le_bytes());
        assert!(heard[13..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_server_that_closes_instead_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut wire = Wire::connect(address, (usize::MAX, usize::MAX)).expect("a connection");
        drop(listener.accept().expect("a client"));
        let mut opening = Opening::default();
        let result = loop {
            match opening.advance(&mut wire) {
                Ok(false) => std::thread::yield_now(),
                other => break other,
            }
        };
        assert!(result.is_err_and(|why| why.starts_with("before TLS: ")));
    }
}
