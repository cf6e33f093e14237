//! Tells whoever has asked for it where the page is.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use lanelock_core::environment;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::SOCKET;

/// How long an operation, the first of its process, may wait for a reader that is busy with others.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(100);

/// Sends the page's descriptor to the socket that the environment names, with the token that is
/// asked for there. There may be no reader: then nothing is sent.
pub(crate) fn announce(page: &OwnedFd) {
    let Some(name) = environment::variable(SOCKET) else {
        return;
    };
    if let Some((name, token)) = name.to_str().and_then(|name| name.split_once('/'))
        && let Some(read_only) = for_readers(page)
    {
        let _unread = send(name, token, read_only.as_ref().unwrap_or(page));
    }
}

/// A descriptor of the page that can only be read; nothing if there is none, and `Some(None)` if
/// the page's own is as good: in a root without /proc, sealed against writing.
fn for_readers(page: &OwnedFd) -> Option<Option<OwnedFd>> {
    use rustix::fs::{Mode, OFlags, SealFlags};
    let path = format!("/proc/self/fd/{}", page.as_raw_fd());
    let opened = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    if let Ok(opened) = opened {
        return Some(Some(opened));
    }
    let seals = rustix::fs::fcntl_get_seals(page).ok()?;
    seals.contains(SealFlags::FUTURE_WRITE).then_some(None)
}

/// Sends a file to an abstract socket.
pub(crate) fn send(name: &str, token: &str, file: &OwnedFd) -> io::Result<()> {
    let address = SocketAddr::from_abstract_name(name)?;
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let descriptors = [file.as_fd()];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    let bytes = [io::IoSlice::new(token.as_bytes())];
    rustix::net::sendmsg(&socket, &bytes, &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Words;
    use rustix::fs::{OFlags, SealFlags};
    use rustix::io::Errno;

    #[test]
    fn nobody_but_the_mapping_can_write() {
        use std::sync::atomic::Ordering::Relaxed;
        let (words, file) = Words::shared("lanelock-test", 8).expect("memory");
        words.as_slice()[3].store(7, Relaxed);
        let read_only = for_readers(&file)
            .expect("a descriptor")
            .expect("of its own");
        let flags = rustix::fs::fcntl_getfl(&read_only).expect("flags");
        assert_eq!(flags & OFlags::RWMODE, OFlags::RDONLY);
        let seals = rustix::fs::fcntl_get_seals(&file).expect("seals");
        assert!(
            seals.contains(SealFlags::FUTURE_WRITE),
            "this kernel is older than Linux 5.1"
        );
        assert_eq!(rustix::io::pwrite(&file, &[1], 24), Err(Errno::PERM));
        let mut byte = [0];
        assert_eq!(rustix::io::pread(&read_only, &mut byte, 24), Ok(1));
        assert_eq!(byte, [7]);
    }
}
