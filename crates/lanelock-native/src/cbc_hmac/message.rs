//! One message, cipher and MAC interleaved.

#![allow(unsafe_code)] // calls kernels

use std::convert::Infallible;

use lanelock_core::Status;
use lanelock_core::algorithm::{MAX_IV_LEN, MAX_TAG_LEN, Order};
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{Ciphertext, ValidOp};
use lanelock_core::transform::Direction;
use lanelock_kernels::aes::BLOCK;
use lanelock_kernels::aes::interleave::Instructions;
use lanelock_kernels::aes::interleave::{CbcHmac, CbcKey, Interleave, Side};
use lanelock_kernels::hash::HmacKey;

use crate::burst::{Text, for_each_block_run};
use crate::tags::settle;

/// Runs are of multiples of this length, but for the last: blocks of the hash function.
const RUN: usize = 64;

/// Runs a message and completes it; of one to verify and then decrypt, checks the tag alone, and
/// completes it if that is wrong. `false` if the ranges do not nest, which means that the first
/// bytes of the payload are not authenticated: then nothing was done.
///
/// What precedes them may be of any length, and so may what follows; the last bytes of the payload
/// need not be authenticated.
pub(crate) fn run<A: Interleave>(
    token: Instructions,
    key: CbcKey<'_>,
    mac_key: &HmacKey<A>,
    order: Order,
    mut op: ValidOp<'_, '_>,
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
    #[cfg(test)]
    super::tests::RAN.set(super::tests::RAN.get() + 1);
    match (order, op.direction()) {
        (Order::EncryptThenMac, Direction::Forward)
        | (Order::MacThenEncrypt, Direction::Reverse) => {
            run_written(&mut message, inside.end, op);
        }
        (Order::MacThenEncrypt, Direction::Forward) => run_read(&mut message, inside.end, op),
        (Order::EncryptThenMac, Direction::Reverse) => {
            let _infallible: Result<(), Infallible> =
                op.for_each_authenticated(Ciphertext::InInput, |piece| {
                    message.authenticate(piece);
                    Ok(())
                });
            if !op.tag_matches(&tag(&mut message)) {
                op.complete(Status::AuthFailed);
            }
        }
    }
    true
}

/// The first `authenticated` bytes of the payload are authenticated as they are written.
fn run_written<A: Interleave>(
    message: &mut CbcHmac<'_, A>,
    authenticated: usize,
    mut op: ValidOp<'_, '_>,
) {
    authenticate_before(message, &op);
    let together = authenticated / BLOCK * BLOCK;
    let (front, rest) = op.payload().split_at(together);
    update(message, Side::Target, front);
    cipher(message, rest);
    if authenticated > together {
        let (_, last) = op.output_payload().split_at(together);
        authenticate(message, last.split_at(authenticated - together).0);
    }
    authenticate_behind(message, &op);
    let tag = tag(message);
    settle(op, &tag);
}

/// The first `authenticated` bytes of the payload are authenticated as they are read; the tag may
/// be among those behind them.
fn run_read<A: Interleave>(
    message: &mut CbcHmac<'_, A>,
    authenticated: usize,
    mut op: ValidOp<'_, '_>,
) {
    authenticate_before(message, &op);
    let together = authenticated / BLOCK * BLOCK;
    let (front, rest) = op.payload().split_at(together);
    update(message, Side::Source, front);
    if authenticated > together {
        authenticate(message, rest.split_at(authenticated - together).0);
    }
    authenticate_behind(message, &op);
    let tag = tag(message);
    if op.tag_in_payload() {
        // The input may be read-only.
        let (_, mut rest) = op.payload().split_at(together);
        while let Some(mut run) = rest.next_run(usize::MAX) {
            run.copy_through();
        }
        op.write_tag(&tag);
        cipher(message, op.output_payload().split_at(together).1);
    } else {
        op.write_tag(&tag);
        cipher(message, op.payload().split_at(together).1);
    }
    op.complete(Status::Success);
}

fn authenticate_before<A: Interleave>(message: &mut CbcHmac<'_, A>, op: &ValidOp<'_, '_>) {
    let _infallible: Result<(), Infallible> = op.for_each_authenticated_before(|piece| {
        message.authenticate(piece);
        Ok(())
    });
}

fn authenticate_behind<A: Interleave>(message: &mut CbcHmac<'_, A>, op: &ValidOp<'_, '_>) {
    let _infallible: Result<(), Infallible> = op.for_each_authenticated_behind(|piece| {
        message.authenticate(piece);
        Ok(())
    });
}

/// The untruncated tag.
#[inline]
fn tag<A: Interleave>(message: &mut CbcHmac<'_, A>) -> [u8; MAX_TAG_LEN] {
    let mut tag = [0; MAX_TAG_LEN];
    message.tag(&mut tag[..A::DIGEST]);
    tag
}

fn update<A: Interleave>(message: &mut CbcHmac<'_, A>, side: Side, payload: Cursor<'_>) {
    for_each_block_run(
        payload,
        RUN,
        |Text {
             source,
             target,
             len,
         }| {
            // SAFETY: the piece is valid for its length; its input and output are alike or disjoint.
            unsafe { message.update(side, source, target, len) };
        },
    );
}

fn cipher<A: Interleave>(message: &mut CbcHmac<'_, A>, payload: Cursor<'_>) {
    for_each_block_run(
        payload,
        RUN,
        |Text {
             source,
             target,
             len,
         }| {
            // SAFETY: as in `update`.
            unsafe { message.cipher(source, target, len) };
        },
    );
}

fn authenticate<A: Interleave>(message: &mut CbcHmac<'_, A>, mut text: Cursor<'_>) {
    while let Some(run) = text.next_run(usize::MAX) {
        message.authenticate(run.input_bytes());
    }
}
