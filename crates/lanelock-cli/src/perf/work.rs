//! Which work is measured: the options, and the cells they span.

use clap::Args;
use lanelock::Algorithm;
use lanelock::algorithm::Spec;

use super::lengths::{Imix, Lengths, Mix};
use super::number::number;
use super::operation::Operation;
use super::shape::{Layout, Shape};
use crate::failure::Failure;

/// What is done: each combination of these lists is a cell.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Work")]
pub struct Work {
    /// Algorithms, as `lanelock engines` lists them; aes-128-cbc+hmac-sha1 is a chain.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = SIX,
          hide_possible_values = true)]
    pub algorithm: Vec<Spec>,

    /// Operations; each algorithm runs those that it has [default: encrypt, or compute].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub operation: Vec<Operation>,

    /// Message lengths in bytes: a list, or first:step:last; 2k is 2048.
    #[arg(
        long,
        value_name = "LENGTH,…",
        default_value = "64,256,1k,8k",
        conflicts_with = "imix"
    )]
    pub sizes: Lengths,

    /// A mix of message lengths with weights; without a value, the simple IMIX of Internet traffic
    /// in whole AES blocks, 64:7,576:4,1504:1.
    #[arg(long, value_name = "LENGTH:WEIGHT,…", num_args = 0..=1, default_missing_value = IMIX)]
    pub imix: Option<Imix>,

    /// Operations handed over at a time.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "32",
          value_parser = number(1, 4096))]
    pub burst: Vec<usize>,

    /// Threads, each with a queue pair and messages of its own, all using the same sessions.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "1",
          value_parser = number(1, 1024))]
    pub threads: Vec<usize>,

    /// Sessions, used in turn: gateways have many keys.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "1",
          value_parser = number(1, 1_000_000))]
    pub sessions: Vec<usize>,

    /// Pieces that each message is split into.
    #[arg(long, value_name = "N", default_value = "1", value_parser = number(1, 64))]
    pub segments: usize,

    /// Where results go [default: in-place, or separate if that would destroy the input].
    #[arg(long, value_name = "LAYOUT")]
    pub layout: Option<Layout>,

    /// Additional data of an AEAD's messages, in bytes.
    #[arg(long, value_name = "N", default_value = "16", value_parser = number(0, 4096))]
    pub aad: usize,

    /// Messages of each thread, rounded up to whole bursts [default: as many as fit 512 KiB, at
    /// most 256, but at least one for each session].
    #[arg(long, value_name = "N", value_parser = number(1, 1 << 20))]
    pub pool: Option<usize>,
}

/// Morton's IMIX (RFC 6985, section 1), its longest packet as a multiple of 16 bytes.
pub const IMIX: &str = "64:7,576:4,1504:1";

/// The algorithms that are measured unless others are named.
pub const SIX: &str =
    "aes-128-cbc,hmac-sha1,aes-128-cmac,aes-128-gcm,3des-ctr,aes-128-cbc+hmac-sha1";

impl Work {
    /// `algorithms`, and everything else as it is by default.
    pub fn of(algorithms: Vec<Spec>) -> Self {
        Self {
            algorithm: algorithms,
            operation: Vec::new(),
            sizes: Lengths(vec![64, 256, 1 << 10, 8 << 10]),
            imix: None,
            burst: vec![32],
            threads: vec![1],
            sessions: vec![1],
            segments: 1,
            layout: None,
            aad: 16,
            pool: None,
        }
    }

    /// Every cell, the fastest-changing option last: algorithm, operation, threads, sessions,
    /// burst, length.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a combination that no contestant could run.
    pub fn cells(&self) -> Result<Vec<Shape>, Failure> {
        let mut cells = Vec::new();
        for &spec in &self.algorithm {
            for operation in self.operations(spec)? {
                let layout = self.layout_of(spec, operation)?;
                for &threads in &self.threads {
                    for &sessions in &self.sessions {
                        for &burst in &self.burst {
                            for mix in self.mixes() {
                                cells.push(self.cell(Shape {
                                    spec,
                                    operation,
                                    mix,
                                    burst,
                                    sessions,
                                    threads,
                                    segments: self.segments,
                                    layout,
                                    pool: 0,
                                    aad: self.aad,
                                })?);
                            }
                        }
                    }
                }
            }
        }
        Ok(cells)
    }

    /// A cell of these options, as far as its algorithm has a use for them.
    fn cell(&self, mut shape: Shape) -> Result<Shape, Failure> {
        check_lengths(shape.spec, &shape.mix)?;
        let sessions = shape.sessions;
        if let Algorithm::Hash(_) = shape.spec.algorithm {
            shape.sessions = 1; // without keys one is like the other
        }
        if !matches!(shape.spec.algorithm, Algorithm::Aead(_)) {
            shape.aad = 0;
        }
        shape.pool = match self.pool {
            Some(pool) if pool < shape.sessions => {
                return Err(Failure::Usage(format!(
                    "--pool {pool}: fewer messages than --sessions {sessions}, which would leave \
                     keys unused; use at least {sessions}"
                )));
            }
            Some(pool) => pool.next_multiple_of(shape.burst),
            None => shape.default_pool(),
        };
        Ok(shape)
    }

    fn mixes(&self) -> Vec<Mix> {
        match &self.imix {
            Some(imix) => vec![Mix::Imix(imix.clone())],
            None => self.sizes.0.iter().map(|&len| Mix::Equal(len)).collect(),
        }
    }

    fn operations(&self, spec: Spec) -> Result<Vec<Operation>, Failure> {
        let has = Operation::of(spec.algorithm);
        if self.operation.is_empty() {
            return Ok(vec![has[0]]);
        }
        let wanted = self.operation.iter().copied();
        let both: Vec<_> = wanted.filter(|operation| has.contains(operation)).collect();
        if both.is_empty() {
            let names = |list: &[Operation]| list.iter().map(|o| o.name()).collect::<Vec<_>>();
            return Err(Failure::Usage(format!(
                "--operation {}: {spec} has {}; add one, or leave the option out",
                names(&self.operation).join(","),
                names(has).join(" and "),
            )));
        }
        Ok(both)
    }

    fn layout_of(&self, spec: Spec, operation: Operation) -> Result<Layout, Failure> {
        match (self.layout, Shape::consumes_input(spec, operation)) {
            (None, false) => Ok(Layout::InPlace),
            (None, true) => Ok(Layout::Separate),
            (Some(Layout::InPlace), true) => Err(Failure::Usage(format!(
                "--layout in-place: {operation} of {spec} in place would overwrite the ciphertext \
                 that the next round needs; use --layout separate"
            ))),
            (Some(Layout::Copy), _) if self.segments > 1 => Err(Failure::Usage(format!(
                "--layout copy: copies contiguous messages, not --segments {}",
                self.segments
            ))),
            (Some(layout), _) => Ok(layout),
        }
    }
}

/// Refuses lengths that the algorithm's mode does not have.
fn check_lengths(spec: Spec, mix: &Mix) -> Result<(), Failure> {
    let row = spec.algorithm.row();
    let (block, least) = (row.block, row.min_payload);
    for len in mix.pattern() {
        let len = len as usize;
        let option = match mix {
            Mix::Equal(_) => "--sizes",
            Mix::Imix(_) => "--imix",
        };
        if !len.is_multiple_of(block) {
            return Err(Failure::Usage(format!(
                "{option} {len}: {spec} takes multiples of {block} bytes"
            )));
        }
        if len < least {
            return Err(Failure::Usage(format!(
                "{option} {len}: {spec} takes at least {least} bytes"
            )));
        }
    }
    Ok(())
}
