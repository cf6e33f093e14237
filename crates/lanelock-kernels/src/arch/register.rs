//! What registers of every kind have in common: a value is the proof of its instructions.

/// A register.
///
/// A value exists only where its instructions do: constructors take the proof, and a value gives it
/// back. So operations on values are safe; what is unsafe states the pointers it reads or writes.
/// Proofs have no size, and a register that holds one is no larger than without. Everything is
/// inlined into functions that enable the instructions.
pub trait Register: Copy {
    /// The proof that the instructions of this register exist.
    type Proof: Copy + core::fmt::Debug;

    /// The proof that this value is.
    fn proof(self) -> Self::Proof;
}
