//! Which cells a sweep has.

use std::cmp::max;

use lanelock::Algorithm;
use lanelock::algorithm::Spec;

use super::super::cells::{common, messages};
use super::super::lengths::Mix;
use super::super::operation::Operation;
use super::super::shape::{Layout, Shape};
use super::super::work::IMIX;
use crate::failure::Failure;
use crate::sweep::{Cell, Time};

/// The cells of symmetric algorithms.
pub struct Design {
    pub cells: Vec<Shape>,
    /// What peers have and the native engine has not.
    pub left_out: Vec<String>,
}

/// Message lengths, in bytes; the mix comes after them.
const LENGTHS: [u32; 7] = [16, 64, 256, 576, 1024, 1500, 8192];
const KEYS: [usize; 3] = [1, 32, 1000];
const BURSTS: [usize; 6] = [1, 4, 8, 32, 64, 256];
/// The burst in which keys and layouts are varied.
const BURST: usize = 32;
/// Additional data of an AEAD's messages, in bytes.
const AAD: usize = 16;

impl Design {
    /// The cells of the algorithms that `named` has, or else of all that a peer has. `offers` says
    /// whether the native engine has one, or `None` if no peer has it.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a name that nobody offers, and those of `offers`.
    pub fn new(
        named: &[String],
        full: bool,
        mut offers: impl FnMut(Spec) -> Result<Option<bool>, Failure>,
    ) -> Result<Self, Failure> {
        let mut design = Self {
            cells: Vec::new(),
            left_out: Vec::new(),
        };
        for spec in specs(named) {
            match offers(spec)? {
                Some(true) => design.add(spec, full),
                Some(false) => design.left_out.push(spec.to_string()),
                None if named.is_empty() => {}
                None => {
                    let why = format!("--algorithm {spec}: no peer has it; leave it out");
                    return Err(Failure::Usage(why));
                }
            }
        }
        Ok(design)
    }

    /// Whether it has cells of the algorithm called `name`, or knows that the native engine has none.
    pub fn knows(&self, name: &str) -> bool {
        let mut cells = self.cells.iter();
        cells.any(|cell| cell.spec.to_string() == name)
            || self.left_out.iter().any(|out| out == name)
    }

    fn add(&mut self, spec: Spec, full: bool) {
        for &operation in Operation::of(spec.algorithm) {
            for &layout in layouts(spec, operation) {
                for &sessions in &KEYS {
                    for &burst in &BURSTS {
                        let first = layout == layouts(spec, operation)[0];
                        let usual = match (sessions, burst) {
                            (1, BURST) => true,
                            (1, _) | (_, BURST) => first,
                            _ => false,
                        };
                        let keyless = matches!(spec.algorithm, Algorithm::Hash(_));
                        if (full || usual) && !(keyless && sessions > 1) {
                            let shapes = mixes(spec)
                                .into_iter()
                                .map(|mix| shape(spec, operation, mix, (burst, sessions), layout));
                            self.cells.extend(shapes);
                        }
                    }
                }
            }
        }
    }
}

/// The smallest work that shows whether someone has the algorithm.
pub fn probe(spec: Spec) -> Shape {
    let operation = Operation::of(spec.algorithm)[0];
    shape(
        spec,
        operation,
        mixes(spec).remove(0),
        (1, 1),
        Layout::InPlace,
    )
}

/// A cell with what was measured in it.
pub fn cell(shape: &Shape, times: Vec<Time>) -> Cell {
    let (common, messages) = (common(shape, "", None), messages(shape));
    Cell {
        algorithm: common.algorithm,
        operation: common.operation,
        size: common.size,
        imix: messages.imix,
        sessions: common.sessions,
        burst: common.burst,
        layout: messages.layout,
        times,
    }
}

/// Those that `named` has (names of public-key operations are passed over), or all, and all chains
/// that encrypt and then authenticate.
fn specs(named: &[String]) -> Vec<Spec> {
    if !named.is_empty() {
        return named.iter().filter_map(|name| name.parse().ok()).collect();
    }
    let singles = Spec::singles();
    let ciphers = singles
        .iter()
        .filter(|spec| matches!(spec.algorithm, Algorithm::Cipher(_)));
    let macs = singles
        .iter()
        .filter(|spec| matches!(spec.algorithm, Algorithm::Mac(_)));
    let chains = ciphers.flat_map(|cipher| {
        let macs = macs.clone();
        macs.filter_map(move |mac| format!("{cipher}+{mac}").parse().ok())
    });
    singles.iter().copied().chain(chains).collect()
}

/// The usual layout first.
fn layouts(spec: Spec, operation: Operation) -> &'static [Layout] {
    match (
        spec.algorithm.row().encrypts,
        Shape::consumes_input(spec, operation),
    ) {
        (false, _) => &[Layout::InPlace],
        (true, true) => &[Layout::Separate],
        (true, false) => &[Layout::InPlace, Layout::Separate],
    }
}

/// The lengths, as far as the algorithm has them, and the mix.
fn mixes(spec: Spec) -> Vec<Mix> {
    let row = spec.algorithm.row();
    let allowed = |len: u32| max(len as usize, row.min_payload).next_multiple_of(row.block);
    let whole = LENGTHS.map(|len| u32::try_from(allowed(len)).unwrap_or(len));
    let mut mixes: Vec<_> = whole.into_iter().map(Mix::Equal).collect();
    mixes.push(Mix::Imix(IMIX.parse().expect("a mix")));
    mixes
}

fn shape(
    spec: Spec,
    operation: Operation,
    mix: Mix,
    (burst, sessions): (usize, usize),
    layout: Layout,
) -> Shape {
    let aad = if matches!(spec.algorithm, Algorithm::Aead(_)) {
        AAD
    } else {
        0
    };
    let shape = Shape {
        spec,
        operation,
        mix,
        burst,
        sessions,
        threads: 1,
        segments: 1,
        layout,
        pool: 0,
        aad,
    };
    Shape {
        pool: shape.default_pool(),
        ..shape
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::super::cells::describe;
    use super::*;

    fn design(names: &str, full: bool) -> Design {
        let names: Vec<_> = names.split(',').map(str::to_owned).collect();
        Design::new(&names, full, |_| Ok(Some(true))).expect("offered")
    }

    #[test]
    fn keys_and_bursts_are_crossed_with_lengths_and_the_layout_is_varied_once() {
        let count = |name| design(name, false).cells.len();
        // Two operations; 8 lengths with 3 keys, 5 more bursts, one more layout.
        assert_eq!(count("aes-128-cbc"), 2 * 8 * (3 + 5 + 1));
        // Decryption has one layout, a MAC none.
        assert_eq!(count("aes-128-gcm"), 8 * (3 + 5 + 1) + 8 * (3 + 5));
        assert_eq!(count("hmac-sha1"), 2 * 8 * (3 + 5));
        // A hash has no keys.
        assert_eq!(count("sha256"), 8 * (1 + 5));
        assert_eq!(design("aes-128-cbc", true).cells.len(), 2 * 8 * 3 * 6 * 2);
    }

    #[test]
    fn no_two_cells_have_one_name() {
        let cells = design("aes-128-cbc,aes-128-gcm,hmac-sha1,sha256,aes-128-xts", true).cells;
        let names: HashSet<_> = cells.iter().map(describe).collect();
        assert_eq!(names.len(), cells.len());
    }

    #[test]
    fn lengths_are_whole_blocks() {
        let lengths = |name: &str| {
            let mixes = mixes(name.parse().expect("a name"));
            mixes.iter().map(Mix::longest).collect::<Vec<_>>()
        };
        assert_eq!(
            lengths("aes-128-cbc"),
            [16, 64, 256, 576, 1024, 1504, 8192, 1504]
        );
        assert_eq!(lengths("aes-128-gcm")[5], 1500);
    }

    #[test]
    fn what_only_peers_have_is_named() {
        let names = ["aes-128-cbc".to_owned()];
        let design = Design::new(&names, false, |_| Ok(Some(false))).expect("a peer has it");
        assert_eq!(design.left_out, ["aes-128-cbc"]);
        let refused = Design::new(&names, false, |_| Ok(None)).map(|_| ());
        let refused = refused.expect_err("nobody has it").to_string();
        assert_eq!(
            refused,
            "--algorithm aes-128-cbc: no peer has it; leave it out"
        );
    }
}
