//! Types of columns, by the letters that Arrow's C Data Interface has for them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::arrow::{Format, fixed_width, import_type};

/// The type of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Null,
    Binary,
    LargeBinary,
    BinaryView,
    Utf8,
    LargeUtf8,
    Utf8View,
    FixedSizeBinary(usize),
    /// Numbers and times: what is encrypted are their bytes in Arrow, which are little-endian.
    Fixed {
        format: String,
        width: usize,
    },
}

/// Names that stand for formats.
const NAMES: &[(&str, &str)] = &[
    ("binary", "z"),
    ("large_binary", "Z"),
    ("string", "u"),
    ("utf8", "u"),
    ("large_string", "U"),
    ("large_utf8", "U"),
    ("int8", "c"),
    ("int16", "s"),
    ("int32", "i"),
    ("int64", "l"),
    ("uint8", "C"),
    ("uint16", "S"),
    ("uint32", "I"),
    ("uint64", "L"),
    ("float32", "f"),
    ("float64", "g"),
    ("date32", "tdD"),
    ("timestamp[s]", "tss:"),
    ("timestamp[ms]", "tsm:"),
    ("timestamp[us]", "tsu:"),
    ("timestamp[ns]", "tsn:"),
];

impl Type {
    /// `None` for types that are not supported.
    pub(crate) fn parse(format: &Format) -> Option<Self> {
        match &format.dictionary {
            Some(values) => Self::parse(values),
            None => Self::of_format(&format.name),
        }
    }

    fn of_format(format: &str) -> Option<Self> {
        Some(match format {
            "n" => Self::Null,
            "z" => Self::Binary,
            "Z" => Self::LargeBinary,
            "vz" => Self::BinaryView,
            "u" => Self::Utf8,
            "U" => Self::LargeUtf8,
            "vu" => Self::Utf8View,
            _ => match (fixed_width(format)?, format.starts_with("w:")) {
                (width, true) => Self::FixedSizeBinary(width),
                (width, false) => Self::Fixed {
                    format: format.to_owned(),
                    width,
                },
            },
        })
    }

    /// A type from its name, or from an object with `__arrow_c_schema__`.
    pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let unknown = |given: &str| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            PyValueError::new_err(format!(
                "type {given:?}; allowed: {}, or an Arrow type object",
                names.join(", ")
            ))
        };
        if let Ok(name) = object.cast::<PyString>() {
            let name = name.to_cow()?;
            let known = NAMES.iter().find(|(known, _)| *known == name);
            let format = known.ok_or_else(|| unknown(&name))?.1;
            return Self::of_format(format).ok_or_else(|| unknown(&name));
        }
        if !object.hasattr("__arrow_c_schema__")? {
            return Err(unknown(&object.repr()?.to_cow()?));
        }
        let format = import_type(object)?;
        match Self::parse(&format) {
            Some(Self::Null) | None => Err(unknown(&format.name)),
            Some(ty) => Ok(ty),
        }
    }

    /// By NumPy's letter for a kind and the width of an item.
    pub(crate) fn of_numpy(dtype: &str, width: usize) -> Option<Self> {
        let unit = || Some(dtype.split_once('[')?.1.trim_end_matches(']'));
        let format = match (dtype.get(..2)?, width) {
            ("|S" | "|V", _) => return Some(Self::FixedSizeBinary(width)),
            ("|i", 1) => "c".to_owned(),
            ("|u", 1) => "C".to_owned(),
            ("<i", 2) => "s".to_owned(),
            ("<i", 4) => "i".to_owned(),
            ("<i", 8) => "l".to_owned(),
            ("<u", 2) => "S".to_owned(),
            ("<u", 4) => "I".to_owned(),
            ("<u", 8) => "L".to_owned(),
            ("<f", 4) => "f".to_owned(),
            ("<f", 8) => "g".to_owned(),
            ("<M", 8) => match unit()? {
                unit @ ("s" | "ms" | "us" | "ns") => format!("ts{}:", &unit[..1]),
                _ => return None,
            },
            _ => return None,
        };
        Self::of_format(&format)
    }

    pub(crate) fn format(&self) -> String {
        match self {
            Self::Null => "n".to_owned(),
            Self::Binary => "z".to_owned(),
            Self::LargeBinary => "Z".to_owned(),
            Self::BinaryView => "vz".to_owned(),
            Self::Utf8 => "u".to_owned(),
            Self::LargeUtf8 => "U".to_owned(),
            Self::Utf8View => "vu".to_owned(),
            Self::FixedSizeBinary(width) => format!("w:{width}"),
            Self::Fixed { format, .. } => format.clone(),
        }
    }

    /// Whether output of such a column has 64-bit offsets.
    pub(crate) fn is_large(&self) -> bool {
        matches!(
            self,
            Self::LargeBinary | Self::LargeUtf8 | Self::BinaryView | Self::Utf8View
        )
    }

    /// The bytes of each value, where all have as many.
    pub(crate) fn width(&self) -> Option<usize> {
        match self {
            Self::Fixed { width, .. } | Self::FixedSizeBinary(width) => Some(*width),
            _ => None,
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Utf8 | Self::LargeUtf8 | Self::Utf8View)
    }
}
