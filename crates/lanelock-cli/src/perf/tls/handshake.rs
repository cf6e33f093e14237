//! One connection of the load: a full handshake, its answers checked, and an orderly end.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustls::client::ClientConnection;

use super::cut::Cut;
use super::target::{self, Group, Target};
use super::wire::Wire;

/// A connection on its way from SYN to close.
#[derive(Debug)]
pub(super) struct Handshake {
    client: ClientConnection,
    wire: Wire,
    group: Group,
    started: Instant,
    phase: Phase,
    cut: Option<Cut>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Shaking,
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
    pub(super) fn start(target: &Target, cut: Option<Cut>) -> io::Result<Self> {
        let budget = cut.map_or((usize::MAX, usize::MAX), Cut::budget);
        let started = Instant::now();
        let wire = Wire::connect(target.address, budget)?;
        Ok(Self {
            client: target.client().map_err(io::Error::other)?,
            wire,
            group: target.group,
            started,
            phase: Phase::Shaking,
            cut,
        })
    }

    /// Whether its handshake is under way.
    pub(super) fn is_shaking(&self) -> bool {
        self.phase == Phase::Shaking
    }

    /// Goes as far as it can without waiting.
    pub(super) fn advance(&mut self) -> Step {
        let step = match self.phase {
            Phase::Shaking => self.shake(),
            Phase::Closing => self.drain(),
        };
        match (step, self.cut) {
            (Ok(Step::Pending), Some(cut)) if self.wire.spent => Step::Leave(cut.stays()),
            // What the server makes of a client that leaves is its own affair.
            (Ok(Step::Shaken(_)) | Err(_), Some(_)) => Step::Leave(Duration::ZERO),
            (Ok(step), _) => step,
            (Err(why), None) => Step::Failed(why),
        }
    }

    /// Leaves as the cut says, or in the middle.
    pub(super) fn leave(self) -> io::Result<()> {
        match self.cut {
            Some(Cut { reset: true, .. }) => self.wire.reset_on_close(),
            _ => Ok(()),
        }
    }

    fn shake(&mut self) -> Result<Step, String> {
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
        self.client.send_close_notify();
        self.phase = Phase::Closing;
        Ok(Step::Shaken(took))
    }

    /// Says goodbye, and reads what the server still says: session tickets, and an alert if the
    /// client's last message was wrong to it.
    fn drain(&mut self) -> Result<Step, String> {
        loop {
            self.say()?;
            match self.hear()? {
                Heard::NothingYet => return Ok(Step::Pending),
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
