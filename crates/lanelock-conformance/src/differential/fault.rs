//! Ways to make a message that must be refused before a byte of it is touched.

use lanelock_core::InvalidReason as Reason;

use crate::message::{Message, Output, Part, Setup};

/// What a caller got wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    CipherBehindInput,
    CipherReversed,
    AuthBehindInput,
    AuthReversed,
    BrokenBlock,
    TooShort,
    TooLong,
    OutputOffsetInPlace,
    OutputTooShort,
    OutputMissing,
    IvMissing,
    IvUnexpected,
    IvTooLong,
    IvBehindInput,
    IvInPayload,
    AadUnexpected,
    AadBehindInput,
    TagMissing,
    TagUnexpected,
    TagTooLong,
    TagBehindBuffer,
    TagInPayload,
    TagInAuthenticated,
}

impl Fault {
    pub(crate) const ALL: [Self; 23] = [
        Self::CipherBehindInput,
        Self::CipherReversed,
        Self::AuthBehindInput,
        Self::AuthReversed,
        Self::BrokenBlock,
        Self::TooShort,
        Self::TooLong,
        Self::OutputOffsetInPlace,
        Self::OutputTooShort,
        Self::OutputMissing,
        Self::IvMissing,
        Self::IvUnexpected,
        Self::IvTooLong,
        Self::IvBehindInput,
        Self::IvInPayload,
        Self::AadUnexpected,
        Self::AadBehindInput,
        Self::TagMissing,
        Self::TagUnexpected,
        Self::TagTooLong,
        Self::TagBehindBuffer,
        Self::TagInPayload,
        Self::TagInAuthenticated,
    ];

    /// Spoils `message` and notes why it must be refused; leaves it alone if the session has no
    /// such part to spoil.
    pub(crate) fn apply(self, setup: &Setup, message: &mut Message) {
        message.refusal = match self {
            Self::CipherBehindInput
            | Self::CipherReversed
            | Self::BrokenBlock
            | Self::TooShort
            | Self::TooLong => self.spoil_cipher_range(setup, message),
            Self::AuthBehindInput | Self::AuthReversed => self.spoil_auth_range(setup, message),
            Self::OutputOffsetInPlace | Self::OutputTooShort | Self::OutputMissing => {
                self.spoil_output(setup, message)
            }
            Self::IvMissing
            | Self::IvUnexpected
            | Self::IvTooLong
            | Self::IvBehindInput
            | Self::IvInPayload => self.spoil_iv(setup, message),
            Self::AadUnexpected | Self::AadBehindInput => self.spoil_aad(setup, message),
            Self::TagMissing
            | Self::TagUnexpected
            | Self::TagTooLong
            | Self::TagBehindBuffer
            | Self::TagInPayload
            | Self::TagInAuthenticated => self.spoil_tag(setup, message),
        };
    }

    fn spoil_cipher_range(self, setup: &Setup, message: &mut Message) -> Option<Reason> {
        if !setup.ciphers() {
            return None;
        }
        let len = message.input.len();
        let range = message.cipher_range();
        let row = setup.algorithm.row();
        let (range, reason) = match self {
            Self::CipherBehindInput => (range.start..len + 1, Reason::CipherRange),
            Self::CipherReversed => (range.start + 1..range.start, Reason::CipherRange),
            Self::BrokenBlock if row.block > 1 && !range.is_empty() => {
                (range.start..range.end - 1, Reason::BlockMultiple)
            }
            Self::TooShort if row.min_payload > 0 && range.len() >= row.min_payload => {
                let end = range.start + row.min_payload - row.block;
                (range.start..end, Reason::PayloadTooShort)
            }
            Self::TooLong => {
                let bound = row.max_payload_with(setup.iv_len)?;
                let len = bound as usize + 1;
                if len > LONGEST {
                    return None;
                }
                message.input = vec![0x3c; len];
                message.placement.input_cuts.clear();
                let iv = vec![0; setup.iv_len];
                (message.iv, message.aad) = (Part::Separate(iv), Part::None);
                (message.output, message.output_at) = (Output::InPlace, None);
                message.tag = Part::Separate(vec![0x3c; setup.tag_len]);
                (0..len, Reason::PayloadTooLong)
            }
            _ => return None,
        };
        message.cipher = Some(range);
        Some(reason)
    }

    fn spoil_auth_range(self, setup: &Setup, message: &mut Message) -> Option<Reason> {
        if !setup.authenticates() {
            return None;
        }
        let start = message.auth_range().start;
        message.auth = Some(match self {
            Self::AuthReversed => start + 1..start,
            _ => start..message.input.len() + 1,
        });
        Some(Reason::AuthRange)
    }

    fn spoil_output(self, setup: &Setup, message: &mut Message) -> Option<Reason> {
        if !setup.ciphers() {
            return None;
        }
        match (self, &message.output) {
            (Self::OutputOffsetInPlace, Output::InPlace) => {
                message.output_at = Some(0);
                Some(Reason::OutputOffset)
            }
            (Self::OutputTooShort, Output::Separate(output)) => {
                message.output_at = Some(output.len() + 1 - message.cipher_range().len().min(1));
                Some(Reason::OutputTooShort)
            }
            (Self::OutputMissing, Output::InPlace) => {
                message.output = Output::ReadOnly;
                Some(Reason::OutputMissing)
            }
            _ => None,
        }
    }

    fn spoil_iv(self, setup: &Setup, message: &mut Message) -> Option<Reason> {
        let len = message.input.len();
        let (iv, reason) = match self {
            Self::IvUnexpected if setup.iv_len == 0 => {
                (Part::Separate(vec![0; 8]), Reason::IvUnexpected)
            }
            _ if setup.iv_len == 0 => return None,
            Self::IvMissing => (Part::None, Reason::IvMissing),
            Self::IvTooLong => (Part::Separate(vec![0; setup.iv_len + 1]), Reason::IvLength),
            Self::IvBehindInput => {
                let start = (len + 1).saturating_sub(setup.iv_len);
                (Part::Inline(start..start + setup.iv_len), Reason::IvRange)
            }
            Self::IvInPayload if setup.ciphers() && message.output == Output::InPlace => {
                let start = message.cipher_range().start;
                let range = start..start + setup.iv_len;
                if message.cipher_range().is_empty() || range.end > len {
                    return None;
                }
                (Part::Inline(range), Reason::HeaderOverlap)
            }
            _ => return None,
        };
        message.iv = iv;
        Some(reason)
    }

    fn spoil_aad(self, setup: &Setup, message: &mut Message) -> Option<Reason> {
        let len = message.input.len();
        let (aad, reason) = match (self, setup.takes_aad()) {
            (Self::AadUnexpected, false) => (Part::Separate(vec![0; 3]), Reason::AadUnexpected),
            (Self::AadBehindInput, true) => (Part::Inline(len..len + 1), Reason::AadRange),
            _ => return None,
        };
        message.aad = aad;
        Some(reason)
    }

    fn spoil_tag(self, setup: &Setup, message: &mut Message) -> Option<Reason> {
        let len = setup.tag_len;
        let inline = |start: usize| Part::Inline(start..start + len);
        let side = if setup.is_forward() {
            message.destination().len()
        } else {
            message.input.len()
        };
        if self == Self::TagUnexpected && len == 0 {
            message.tag = Part::Separate(vec![0x3c; 16]);
            return Some(Reason::TagUnexpected);
        }
        if len == 0 {
            return None;
        }
        let (tag, reason) = match self {
            Self::TagMissing => (Part::None, Reason::TagMissing),
            Self::TagTooLong => (Part::Separate(vec![0x3c; len + 1]), Reason::TagLength),
            _ if setup.is_forward() && message.output == Output::ReadOnly => {
                (inline(0), Reason::TagReadOnly)
            }
            Self::TagBehindBuffer => (inline((side + 1).saturating_sub(len)), Reason::TagRange),
            Self::TagInPayload if setup.ciphers() && !setup.is_mac_first() => {
                let payload = message.cipher_range();
                let start = if setup.is_forward() {
                    message.payload_at()
                } else {
                    payload.start
                };
                if payload.is_empty() || start + len > side {
                    return None;
                }
                (inline(start), Reason::TagOverlap)
            }
            Self::TagInAuthenticated
                if setup.authenticates()
                    && (message.output == Output::InPlace || !setup.is_forward()) =>
            {
                let auth = message.auth_range();
                if auth.is_empty() || auth.start + len > side {
                    return None;
                }
                (inline(auth.start), Reason::TagOverlap)
            }
            _ => return None,
        };
        message.tag = tag;
        Some(reason)
    }
}

/// Longest message that is made to be too long: one of CCM with its longest nonce.
const LONGEST: usize = 0x1_0000;
