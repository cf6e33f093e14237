//! The names under which programs find this: libssl's, and those of the C library that wait.

use super::{handshake, waits};
use crate::guard::symbols::symbols;

symbols! {
    "SSL_do_handshake" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::do_handshake,
    "SSL_accept" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::accept,
    "SSL_read" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::read,
    "SSL_read_ex" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::read_ex,
    "SSL_peek" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::peek,
    "SSL_peek_ex" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::peek_ex,
    "SSL_write" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::write,
    "SSL_write_ex" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::write_ex,
    "SSL_get_error" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::get_error,
    "SSL_want" @ env!("LANELOCK_LIBSSL_VERSION") => handshake::want,
    "epoll_wait" @ "GLIBC_2.3.2" => waits::epoll_wait,
    "epoll_pwait" @ "GLIBC_2.6" => waits::epoll_pwait,
    "epoll_pwait2" @ "GLIBC_2.35" => waits::epoll_pwait2,
    "poll" @ "GLIBC_2.2.5" => waits::poll,
    "__poll_chk" @ "GLIBC_2.16" => waits::poll_chk,
    "ppoll" @ "GLIBC_2.4" => waits::ppoll,
    "__ppoll_chk" @ "GLIBC_2.16" => waits::ppoll_chk,
    "select" @ "GLIBC_2.2.5" => waits::select,
    "pselect" @ "GLIBC_2.2.5" => waits::pselect,
}
