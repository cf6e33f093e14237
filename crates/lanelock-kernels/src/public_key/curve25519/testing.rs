//! What the tests share.

use std::prelude::v1::*;
use std::vec;

use super::Kernel;
use crate::testing::has;

/// Every kernel of this CPU; one that the CPU has is never left out.
pub(super) fn kernels() -> Vec<Kernel> {
    let mut kernels = vec![Kernel::Portable];
    let token = crate::cpu::Ifma::detect();
    let expected = has!("avx512ifma") && has!("avx512vbmi2") && has!("vaes");
    assert_eq!(token.is_some(), expected);
    kernels.extend(token.map(Kernel::Ifma));
    kernels
}
