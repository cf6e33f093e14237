//! The checker itself on trial: an engine with a mistake must be caught, one without must pass.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod engine;
mod mistake;

use engine::Mutant;
use lanelock_conformance::differential::{Failure, Options, run};
use lanelock_conformance::progress::Silent;
use lanelock_conformance::{Level, Subject};
use lanelock_core::Device;
use mistake::Mistake;

fn check(mistake: Mistake) -> Option<Failure> {
    let device = Device::builder().engine(Mutant::new(mistake)).build();
    let subject = Subject::new(&device, "mutant").expect("its name");
    let options = Options {
        level: Level::Quick,
        seed: 3,
        threads: 2,
    };
    run(&subject, options, &|_| true, &Silent)
        .failure
        .map(|failure| *failure)
}

#[test]
fn an_engine_without_mistakes_passes() {
    if let Some(failure) = check(Mistake::None) {
        panic!("{failure}");
    }
}

macro_rules! caught {
    ($($name:ident: $mistake:ident, $words:literal;)*) => {$(
        #[test]
        fn $name() {
            let failure = check(Mistake::$mistake).expect("the mistake is caught");
            let text = failure.to_string();
            println!("{text}");
            assert!(text.contains($words), "{text}");
        }
    )*};
}

caught! {
    a_flipped_bit: FlippedBit, "is wrong";
    an_iv_that_restarts_at_a_segment: IvRestartsAtSegment, "segments of";
    a_counter_that_does_not_carry: ShortCounter, "aes-";
    plaintext_that_did_not_verify: PlaintextReleased, "neither what it was nor zero";
    plaintext_wiped_in_part: PlaintextHalfWiped, "neither what it was nor zero";
    a_tag_compared_in_part: TagCutShort, "status: expected auth-failed, got success";
    a_wrong_status: WrongStatus, "status: expected auth-failed, got engine-error";
    an_ignored_range: AuthRangeIgnored, "auth range";
    a_mac_over_the_wrong_side: MacReadsInput, "+";
    additional_data_left_out: LongAadDropped, "additional data";
    the_iv_of_a_neighbour: StaleIv, "IV";
    a_skipped_operation: NinthSkipped, "burst 0 of 9";
    a_byte_behind_the_payload: ByteBehind, "";
    a_byte_in_front_of_the_output: OutputStartTouched, "";
    an_overwritten_input: InputOverwritten, "input (which is only read)";
    an_inner_tag_in_the_clear: InnerTagInClear, "inline at";
    an_ignored_customization: CustomizationIgnored, "customization";
    a_tag_cut_to_twelve_bytes: LongTagCut, "tag";
}
