//! How a message becomes an operation, decided before the clock starts.
//!
//! An application knows when it is compiled whether its messages have an IV or a tag and whether
//! they are rewritten in place. [`Form`] gives the timed loop the same knowledge: there is one
//! loop for each form, and the shape of a cell selects it.

use lanelock::{Buffer, Op};

use super::operation::Operation;
use super::pool::{Message, Part};
use super::shape::{Layout, Shape};

/// Builds operations of one form.
pub trait Form {
    /// The operation of `message`.
    fn op<'m>(message: &'m mut Message<'_>) -> Op<'m>;
}

/// Something that differs from form to form, and can be made from any of them.
pub trait ForForm {
    /// What is made.
    type Made;

    /// Makes it for `F`.
    fn make<F: Form>() -> Self::Made;
}

/// Makes `M` for the form of `shape`.
pub fn select<M: ForForm>(shape: &Shape) -> M::Made {
    match (shape.has_output(), shape.layout, shape.segments) {
        (_, _, 2..) => by_iv::<M, Pieces>(shape),
        (false, _, _) => by_iv::<M, ReadOnly>(shape),
        (true, Layout::InPlace, _) => by_iv::<M, InPlace>(shape),
        (true, Layout::Separate, _) => by_iv::<M, Separate>(shape),
        (true, Layout::Copy, _) => by_iv::<M, CopyFirst>(shape),
    }
}

fn by_iv<M: ForForm, P: Place>(shape: &Shape) -> M::Made {
    match shape.iv_len() {
        0 => by_aad::<M, P, false>(shape),
        _ => by_aad::<M, P, true>(shape),
    }
}

fn by_aad<M: ForForm, P: Place, const IV: bool>(shape: &Shape) -> M::Made {
    match shape.aad {
        0 => by_tag::<M, P, IV, false>(shape),
        _ => by_tag::<M, P, IV, true>(shape),
    }
}

fn by_tag<M: ForForm, P: Place, const IV: bool, const AAD: bool>(shape: &Shape) -> M::Made {
    match shape.operation {
        _ if shape.tag_len() == 0 => M::make::<Parts<P, IV, AAD, NO_TAG>>(),
        Operation::Encrypt | Operation::Compute => M::make::<Parts<P, IV, AAD, COMPUTED>>(),
        Operation::Decrypt | Operation::Verify => M::make::<Parts<P, IV, AAD, EXPECTED>>(),
    }
}

/// Where an operation's message lies.
trait Place {
    fn buffer<'m>(input: &'m mut Part<'_>, output: Option<&'m mut Part<'_>>) -> Buffer<'m>;
}

struct InPlace;
struct Separate;
struct CopyFirst;
struct ReadOnly;
/// Any of them, as the message says.
struct Pieces;

impl Place for InPlace {
    #[inline(always)]
    fn buffer<'m>(input: &'m mut Part<'_>, _: Option<&'m mut Part<'_>>) -> Buffer<'m> {
        Buffer::in_place(input.whole())
    }
}

impl Place for Separate {
    #[inline(always)]
    fn buffer<'m>(input: &'m mut Part<'_>, output: Option<&'m mut Part<'_>>) -> Buffer<'m> {
        let output = output.expect("the pool has separate outputs");
        Buffer::separate(&*input.whole(), output.whole())
    }
}

impl Place for CopyFirst {
    #[inline(always)]
    fn buffer<'m>(input: &'m mut Part<'_>, output: Option<&'m mut Part<'_>>) -> Buffer<'m> {
        let output = output.expect("the pool has separate outputs").whole();
        output.copy_from_slice(input.whole());
        Buffer::in_place(output)
    }
}

impl Place for ReadOnly {
    #[inline(always)]
    fn buffer<'m>(input: &'m mut Part<'_>, _: Option<&'m mut Part<'_>>) -> Buffer<'m> {
        Buffer::read_only(&*input.whole())
    }
}

impl Place for Pieces {
    #[inline(always)]
    fn buffer<'m>(input: &'m mut Part<'_>, output: Option<&'m mut Part<'_>>) -> Buffer<'m> {
        match output {
            Some(output) => Buffer::separate(input.sink(), output.sink()),
            // MACs and hashes write none of it.
            None => Buffer::in_place(input.sink()),
        }
    }
}

const NO_TAG: u8 = 0;
const COMPUTED: u8 = 1;
const EXPECTED: u8 = 2;

/// A place, and which parts there are beside it.
struct Parts<P, const IV: bool, const AAD: bool, const TAG: u8>(P);

impl<P: Place, const IV: bool, const AAD: bool, const TAG: u8> Form for Parts<P, IV, AAD, TAG> {
    #[inline(always)]
    fn op<'m>(message: &'m mut Message<'_>) -> Op<'m> {
        let buffer = P::buffer(&mut message.input, message.output.as_mut());
        let mut op = Op::new(message.session, buffer);
        if IV {
            op = op.iv(message.iv);
        }
        if AAD {
            op = op.aad(message.aad);
        }
        match TAG {
            COMPUTED => op.tag(message.tag),
            EXPECTED => op.expected_tag(message.tag),
            _ => op,
        }
    }
}
