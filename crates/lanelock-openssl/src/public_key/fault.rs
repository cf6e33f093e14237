//! The check that an RSA private operation was right: the public one undoes it.

use lanelock_public_key::RsaPublic;
use zeroize::Zeroizing;

use crate::ffi::{Failed, Number, Power};

/// Compares what a private operation made of an input with that input.
///
/// It looks at a whole block before the padding is looked at, and with a correct key it always
/// passes: the outcome reveals nothing about the padding.
pub(super) struct FaultCheck {
    public: Power,
    /// 1, then room for a block.
    marked: Zeroizing<Vec<u8>>,
    /// What the 1 stands for.
    mark: Number,
}

impl FaultCheck {
    pub(super) fn new(key: &RsaPublic) -> Result<Self, Failed> {
        let mut marked = Zeroizing::new(vec![0; 1 + key.n.len()]);
        marked[0] = 1;
        let (n, e) = (Number::from_bytes(&key.n)?, Number::from_bytes(&key.e)?);
        Ok(Self {
            public: Power::new(&n, &e)?,
            mark: Number::from_bytes(&marked)?,
            marked,
        })
    }

    /// Where the private operation writes its block.
    pub(super) fn block(&mut self) -> &mut [u8] {
        &mut self.marked[1..]
    }

    /// Whether the block, as a number to the public exponent, is `input`.
    pub(super) fn passes(&mut self, input: &[u8]) -> Result<bool, Failed> {
        // The block may be secret. Reading a number takes time by how many zeros it starts with:
        // with the 1 before them, none.
        let block = Number::from_bytes(&self.marked)?.minus(&self.mark)?;
        Ok(self.public.of(&block)?.equals(&Number::from_bytes(input)?))
    }
}
