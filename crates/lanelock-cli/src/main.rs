//! The lanelock command.

fn main() {}
