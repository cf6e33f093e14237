//! AES-CBC and HMAC of one message, interleaved.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;

use lanelock_core::Status;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN, Order};
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::ValidOp;
use lanelock_core::transform::Direction;
use lanelock_kernels::aes::BLOCK;
use lanelock_kernels::aes::interleave::{CbcHmac, CbcKey, Interleave, Side};
use lanelock_kernels::cpu::ShaNi;
use lanelock_kernels::hash::HmacKey;

use crate::burst::settle;

/// Runs are of multiples of this length, but for the last: blocks of the hash function.
const RUN: usize = 64;

/// Runs a message and completes it; `false` if its ranges do not nest, which means that the first
/// bytes of the payload are not authenticated: then nothing was done.
///
/// What precedes them may be of any length, and so may what follows; the last bytes of the payload
/// need not be authenticated.
pub(crate) fn run<A: Interleave>(
    token: ShaNi,
    key: CbcKey<'_>,
    mac_key: &HmacKey<A>,
    order: Order,
    op: ValidOp<'_, '_>,
) -> bool {
    let inside = op.authenticated_payload();
    if inside.start > 0 || inside.end < BLOCK {
        return false;
    }
    let mut scratch = [0; MAX_IV_LEN];
    let iv = op.iv(&mut scratch).try_into().expect("an IV of one block");
    let Some(mut message) = CbcHmac::new(token, key, mac_key, iv) else {
        return false;
    };
    let _infallible: Result<(), Infallible> = op.for_each_authenticated_before(|piece| {
        message.authenticate(piece);
        Ok(())
    });
    let side = match (order, op.direction()) {
        (Order::EncryptThenMac, Direction::Forward)
        | (Order::MacThenEncrypt, Direction::Reverse) => Side::Target,
        _ => Side::Source,
    };
    match side {
        Side::Target => finish_written(message, inside.end, op),
        Side::Source => finish_read(message, inside.end, op),
    }
    true
}

/// The first `authenticated` bytes of the payload are authenticated as they are written.
fn finish_written<A: Interleave>(
    mut message: CbcHmac<'_, A>,
    authenticated: usize,
    mut op: ValidOp<'_, '_>,
) {
    let together = authenticated / BLOCK * BLOCK;
    let (front, rest) = op.payload().split_at(together);
    update(&mut message, Side::Target, front);
    cipher(&mut message, rest);
    if authenticated > together {
        let (_, last) = op.output_payload().split_at(together);
        authenticate(&mut message, last.split_at(authenticated - together).0);
    }
    let tag = tag(&mut message, &op);
    settle(op, Some(&tag));
}

/// The first `authenticated` bytes of the payload are authenticated as they are read; the tag may
/// be among those behind them.
fn finish_read<A: Interleave>(
    mut message: CbcHmac<'_, A>,
    authenticated: usize,
    mut op: ValidOp<'_, '_>,
) {
    let together = authenticated / BLOCK * BLOCK;
    let (front, rest) = op.payload().split_at(together);
    update(&mut message, Side::Source, front);
    if authenticated > together {
        authenticate(&mut message, rest.split_at(authenticated - together).0);
    }
    let tag = tag(&mut message, &op);
    if op.tag_in_payload() {
        // The input may be read-only.
        let (_, mut rest) = op.payload().split_at(together);
        while let Some(mut run) = rest.next_run(usize::MAX) {
            run.copy_through();
        }
        op.write_tag(&tag);
        cipher(&mut message, op.output_payload().split_at(together).1);
    } else {
        op.write_tag(&tag);
        cipher(&mut message, op.payload().split_at(together).1);
    }
    op.complete(Status::Success);
}

/// The untruncated tag, once what lies behind the payload was authenticated.
fn tag<A: Interleave>(message: &mut CbcHmac<'_, A>, op: &ValidOp<'_, '_>) -> [u8; MAX_TAG_LEN] {
    let _infallible: Result<(), Infallible> = op.for_each_authenticated_behind(|piece| {
        message.authenticate(piece);
        Ok(())
    });
    let mut tag = [0; MAX_TAG_LEN];
    message.tag(&mut tag[..A::DIGEST]);
    tag
}

fn update<A: Interleave>(message: &mut CbcHmac<'_, A>, side: Side, payload: Cursor<'_>) {
    let _infallible: Result<(), Infallible> = payload.for_each_block_run(RUN, |run| {
        // SAFETY: the run is valid for its length; its input and output are alike or disjoint.
        unsafe { message.update(side, run.input(), run.output(), run.len()) };
        Ok(())
    });
}

fn cipher<A: Interleave>(message: &mut CbcHmac<'_, A>, payload: Cursor<'_>) {
    let _infallible: Result<(), Infallible> = payload.for_each_block_run(RUN, |run| {
        // SAFETY: as in `update`.
        unsafe { message.cipher(run.input(), run.output(), run.len()) };
        Ok(())
    });
}

fn authenticate<A: Interleave>(message: &mut CbcHmac<'_, A>, mut text: Cursor<'_>) {
    while let Some(run) = text.next_run(usize::MAX) {
        message.authenticate(run.input_bytes());
    }
}
