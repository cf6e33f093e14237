//! Tells whoever has asked for it where the page is.

use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use lanelock_core::environment;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::SOCKET;

/// Sends the page's descriptor to the socket that the environment names. Nobody may be there, or
/// not be reading: then nothing is sent.
pub(crate) fn announce(page: &OwnedFd) {
    let Some(name) = environment::variable(SOCKET) else {
        return;
    };
    let send = || -> std::io::Result<()> {
        let address = SocketAddr::from_abstract_name(name.as_bytes())?;
        let socket = UnixDatagram::unbound()?;
        socket.connect_addr(&address)?;
        let descriptors = [page.as_fd()];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let bytes = [std::io::IoSlice::new(b"page")];
        rustix::net::sendmsg(&socket, &bytes, &mut ancillary, SendFlags::DONTWAIT)?;
        Ok(())
    };
    let _nobody_listens = send();
}
