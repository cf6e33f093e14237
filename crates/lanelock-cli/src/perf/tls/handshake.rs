//! One connection of the load: a full handshake, its answers checked, and an orderly end.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustls::client::ClientConnection;

use super::cut::{Course, Cut};
use super::opening::Opening;
use super::target::{self, Group, Target};
use super::wire::Wire;

/// A connection on its way from SYN to close.
#[derive(Debug)]
pub(super) struct Handshake {
    client: ClientConnection,
    wire: Wire,
    /// What is still to be said before TLS.
    opening: Option<Opening>,
    group: Group,
    started: Instant,
    phase: Phase,
    course: Course,
    /// A slow client, between two pieces.
    rests: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Shaking,
    /// A slow client's last message is still to leave.
    Finishing,
    /// The client has said goodbye and waits for the server to close.
    Closing,
}

/// How far it came.
#[derive(Debug)]
pub(super) enum Step {
    /// It waits for the server.
    Pending,
    /// The handshake is complete and right, after this time; the server has yet to close.
    Shaken(Duration),
    /// The server has closed.
    Closed,
    /// The client sends its next piece after this time.
    Rest(Duration),
    /// The client is to leave after this time.
    Leave(Duration),
    /// The handshake did not complete, or not as it should have.
    Failed(String),
}

/// What a read brought.
enum Heard {
    Something,
    NothingYet,
    /// The server has closed, or reset.
    End,
}

impl Handshake {
    /// Connects.
    pub(super) fn start(target: &Target, mut course: Course) -> io::Result<Self> {
        let budget = match &mut course {
            Course::Straight => (usize::MAX, usize::MAX),
            Course::Slow(slow) => (usize::MAX, slow.piece()),
            Course::Cut(cut) => cut.budget(),
        };
        let started = Instant::now();
        let wire = Wire::connect(target.address, budget)?;
        Ok(Self {
            client: target.client().map_err(io::Error::other)?,
            wire,
            opening: target.protocol.opening(),
            group: target.group,
            started,
            phase: Phase::Shaking,
            course,
            rests: false,
        })
    }

    /// Whether its handshake is under way.
    pub(super) fn is_shaking(&self) -> bool {
        self.phase == Phase::Shaking
    }

    /// Whether its client takes its time.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self.course, Course::Slow(_))
    }

    /// Goes as far as it can without waiting.
    pub(super) fn advance(&mut self) -> Step {
        let step = match self.phase {
            Phase::Shaking => self.shake(),
            Phase::Finishing | Phase::Closing => self.drain(),
        };
        match (step, &mut self.course) {
            (Ok(Step::Pending), Course::Cut(cut)) if self.wire.spent => Step::Leave(cut.stays()),
            // What the server makes of a client that leaves is its own affair.
            (Ok(Step::Shaken(_)) | Err(_), Course::Cut(_)) => Step::Leave(Duration::ZERO),
            (Ok(Step::Pending), Course::Slow(slow)) if self.wire.spent && !self.rests => {
                self.rests = true;
                Step::Rest(slow.pause())
            }
            (Ok(step), _) => step,
            (Err(why), _) => Step::Failed(why),
        }
    }

    /// A slow client has rested: it may send its next piece.
    pub(super) fn resume(&mut self) {
        if let Course::Slow(slow) = &mut self.course {
            self.wire.grant(slow.piece());
            self.rests = false;
        }
    }

    /// Leaves as the cut says, or in the middle.
    pub(super) fn leave(self) -> io::Result<()> {
        match self.course {
            Course::Cut(Cut { reset: true, .. }) => self.wire.reset_on_close(),
            _ => Ok(()),
        }
    }

    fn shake(&mut self) -> Result<Step, String> {
        if let Some(opening) = &mut self.opening {
            if !opening.advance(&mut self.wire)? {
                return Ok(Step::Pending);
            }
            self.opening = None;
        }
        loop {
            self.say()?;
            match self.hear()? {
                Heard::NothingYet => return Ok(Step::Pending),
                Heard::End => {
                    return Err("the server closed the connection during the handshake".to_owned());
                }
                Heard::Something => {}
            }
            if !self.client.is_handshaking() {
                break;
            }
        }
        let took = self.started.elapsed();
        target::check(&self.client, self.group)?;
        self.phase = Phase::Finishing;
        // With its last message, unless that is to leave in pieces.
        if !self.is_slow() {
            self.say_goodbye();
        }
        Ok(Step::Shaken(took))
    }

    fn say_goodbye(&mut self) {
        self.client.send_close_notify();
        self.phase = Phase::Closing;
    }

    /// Says goodbye, and reads what the server still says: session tickets, and an alert if the
    /// client's last message was wrong to it.
    fn drain(&mut self) -> Result<Step, String> {
        loop {
            self.say()?;
            if self.phase == Phase::Finishing && !self.client.wants_write() {
                self.say_goodbye();
                continue;
            }
            match self.hear()? {
                Heard::NothingYet => return Ok(Step::Pending),
                Heard::End if self.phase == Phase::Finishing => {
                    return Err("the server did not wait for the client's last message".to_owned());
                }
                Heard::End => return Ok(Step::Closed),
                Heard::Something => {}
            }
        }
    }

    /// Sends what the client has to say, as far as there is room.
    fn say(&mut self) -> Result<(), String> {
        while self.client.wants_write() {
            match self.client.write_tls(&mut self.wire) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // A server that has the client's close_notify need not read on.
                Err(_) if self.phase == Phase::Closing => break,
                Err(error) => return Err(format!("sending: {error}")),
            }
        }
        Ok(())
    }

    fn hear(&mut self) -> Result<Heard, String> {
        match self.client.read_tls(&mut self.wire) {
            Ok(0) => return Ok(Heard::End),
            Ok(_) => {}
            Err(error) => {
                return match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::NotConnected => Ok(Heard::NothingYet),
                    ErrorKind::ConnectionReset => Ok(Heard::End),
                    _ => Err(format!("receiving: {error}")),
                };
            }
        }
        match self.client.process_new_packets() {
            Ok(_) => Ok(Heard::Something),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl AsFd for Handshake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wire.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::super::slow::Slow;
    use super::super::target::Version;
    use super::*;

    #[test]
    fn a_slow_client_sends_a_piece_each_time_it_has_rested() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let target = Target::new(address, Version::Tls13, Group::X25519, Vec::new());
        let target = target.expect("a target");
        let course = Course::Slow(Slow::new(1));
        let mut handshake = Handshake::start(&target, course).expect("a connection");
        let (mut server, _) = listener.accept().expect("a client");
        let (mut hello, mut pieces) = (Vec::new(), 0);
        let whole = |hello: &[u8]| match hello {
            [_, _, _, high, low, ..] => 5 + usize::from(u16::from_be_bytes([*high, *low])),
            _ => usize::MAX,
        };
        while hello.len() < whole(&hello) {
            let step = handshake.advance();
            // The last piece may be all that was left.
            let rests = matches!(step, Step::Rest(_));
            assert!(rests || matches!(step, Step::Pending), "{step:?}");
            // What else happens in the meantime sends nothing.
            assert!(matches!(handshake.advance(), Step::Pending));
            let mut piece = [0; 1000];
            let count = server.read(&mut piece).expect("a piece");
            assert!((1..=48).contains(&count), "{count}");
            hello.extend(&piece[..count]);
            assert_eq!(rests, hello.len() < whole(&hello), "{}", hello.len());
            pieces += 1;
            handshake.resume();
        }
        assert!(pieces > 3, "{pieces}");
    }
}
