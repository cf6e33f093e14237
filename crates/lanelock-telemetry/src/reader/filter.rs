//! Has the kernel drop what does not begin with a token, before it takes room in a socket's queue.

#![allow(unsafe_code)] // setsockopt with a pointer

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};

/// Length of a token, in bytes.
pub(super) const TOKEN: usize = 32;

/// Words of four bytes, which the filter compares one by one.
const WORDS: usize = TOKEN / 4;

/// Accepts datagrams that begin with `token`, and no other. Senders of others see no error.
pub(super) fn require(socket: BorrowedFd<'_>, token: &[u8; TOKEN]) -> io::Result<()> {
    let mut program = instructions(token);
    let program = sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    let size = libc::socklen_t::try_from(size_of::<sock_fprog>()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads `size` bytes of `program`, and copies the instructions that it
    // points to; both outlive the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Loads each word and leaves for the last instruction but one unless it is the token's. A datagram
/// that ends before a word is dropped by the load.
#[allow(
    clippy::cast_possible_truncation,
    reason = "codes of the kernel's headers have 16 bits, and a token has few words"
)]
fn instructions(token: &[u8; TOKEN]) -> [sock_filter; 2 * WORDS + 2] {
    let instruction = |code: u32, k: u32, jf: usize| sock_filter {
        code: code as u16,
        jt: 0,
        jf: jf as u8,
        k,
    };
    let mut words = token.chunks_exact(4);
    std::array::from_fn(|at| match at {
        at if at == 2 * WORDS => instruction(BPF_RET | BPF_K, u32::MAX, 0),
        at if at > 2 * WORDS => instruction(BPF_RET | BPF_K, 0, 0),
        at if at % 2 == 0 => instruction(BPF_LD | BPF_W | BPF_ABS, (2 * at) as u32, 0),
        at => {
            let word = words.next().and_then(|word| word.try_into().ok());
            let word = u32::from_be_bytes(word.unwrap_or_default());
            instruction(BPF_JMP | BPF_JEQ | BPF_K, word, 2 * WORDS - at)
        }
    })
}
