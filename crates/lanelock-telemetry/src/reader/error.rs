//! Why a page cannot be found or read.

use std::fmt;
use std::io;

use crate::layout::VERSION;
use crate::{PAGE_NAME, SWITCH};

/// Why a process's page was not found.
#[derive(Debug)]
#[non_exhaustive]
pub enum FindError {
    /// There is no process of this number.
    NoSuchProcess(u32),
    /// The process belongs to somebody else, or has changed its user.
    NotPermitted(u32),
    /// The process has no page.
    NoPage(u32),
    /// It has one that cannot be read.
    Page(u32, PageError),
}

/// What is wrong with a page.
#[derive(Debug)]
#[non_exhaustive]
pub enum PageError {
    /// It is not a memory file of fixed size.
    NotSealed,
    /// It does not start with a page's first word.
    NoMagic(u64),
    /// It has another version's layout.
    Version(u64),
    /// A field has a value that no page has.
    Field {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// A field of a block has a value that no block has.
    Block {
        /// Number of the block.
        index: usize,
        /// The field.
        field: &'static str,
        /// Its value, or its first word.
        value: u64,
    },
    /// The file ends before the word that is wanted.
    Short {
        /// The word.
        at: usize,
    },
    /// The kernel refuses to read it.
    Unreadable(io::Error),
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchProcess(pid) => write!(
                f,
                "process {pid}: no such process; `pgrep -a NAME` lists the processes of a program"
            ),
            Self::NotPermitted(pid) => write!(
                f,
                "process {pid}: no permission to read its descriptors; run as its user, or as root \
                 (sudo lanelock stats {pid}): only root can read a server that has dropped its \
                 privileges"
            ),
            Self::NoPage(pid) => write!(
                f,
                "process {pid}: it has no {PAGE_NAME}; a process gets one with its first public-key \
                 operation through lanelock, unless {SWITCH}=off: start a program with \
                 `lanelock run -- COMMAND`, and look at its workers if it forks"
            ),
            Self::Page(pid, error) => write!(f, "process {pid}: {PAGE_NAME}: {error}"),
        }
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSealed => f.write_str("it is not a memory file of fixed size, as a page is"),
            Self::NoMagic(found) => {
                write!(f, "its first word is {found:#018x}, not that of a page")
            }
            Self::Version(found) => write!(
                f,
                "its layout is version {found}, and this command reads version {VERSION}: use the \
                 `lanelock` that was installed with the module"
            ),
            Self::Field { field, value } => write!(f, "{field} cannot be {value}"),
            Self::Block {
                index,
                field,
                value,
            } => write!(f, "block {index}: {field} cannot be {value:#x}"),
            Self::Short { at } => write!(f, "it ends before word {at}"),
            Self::Unreadable(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for FindError {}
impl std::error::Error for PageError {}
