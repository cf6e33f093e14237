//! A report in the forms that people and programs read.

pub mod columns;
pub mod csv;
pub mod html;
pub mod json;
pub mod sweep;
pub mod table;
pub mod uplift;
