//! The mistakes that the checker has to catch.

/// What the engine gets wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mistake {
    /// Nothing.
    None,
    /// One bit of a long payload comes out wrong.
    FlippedBit,
    /// Each run of a segmented payload starts with the IV again.
    IvRestartsAtSegment,
    /// The counter carries within 32 bits only.
    ShortCounter,
    /// Plaintext that did not verify stays in the output.
    PlaintextReleased,
    /// Only the first byte of such plaintext is wiped.
    PlaintextHalfWiped,
    /// Four bytes of the tag are compared.
    TagCutShort,
    /// A message that does not verify is reported as an error of the engine.
    WrongStatus,
    /// The authenticated range is taken to be the payload.
    AuthRangeIgnored,
    /// A chain's MAC reads the bytes of the payload from the input in either order.
    MacReadsInput,
    /// Additional data is left out from 256 bytes on.
    LongAadDropped,
    /// The second operation of a batch gets the IV of the first.
    StaleIv,
    /// The ninth operation of a batch is reported done and was not touched.
    NinthSkipped,
    /// A byte behind the payload's last segment is zeroed.
    ByteBehind,
    /// The first byte of a separate output is zeroed, wherever the payload goes.
    OutputStartTouched,
    /// The input of an operation with a separate output is overwritten.
    InputOverwritten,
    /// A tag in the payload is not encrypted with it.
    InnerTagInClear,
    /// A MAC's customization string is left out.
    CustomizationIgnored,
    /// A tag longer than 12 bytes is cut to 12.
    LongTagCut,
}
