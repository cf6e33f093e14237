//! Figures for people, with the digits that matter.

use std::time::Duration;

/// Three or four digits that matter: 1234, 99.9, 1.23, 0.0123.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// The same without zeros at the end, thousands as k, M, G: 12.3 k.
pub fn number(value: f64) -> String {
    let (value, unit) = match value.abs() {
        m if m >= 1e9 => (value / 1e9, " G"),
        m if m >= 1e6 => (value / 1e6, " M"),
        m if m >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = digits(value);
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => &digits,
    };
    format!("{digits}{unit}")
}

/// A time with its unit: 12.3 µs.
pub fn duration(duration: Duration) -> String {
    match duration.as_secs_f64() {
        s if s < 1e-6 => format!("{} ns", duration.as_nanos()),
        s if s < 1e-3 => format!("{} µs", digits(s * 1e6)),
        s if s < 1.0 => format!("{} ms", digits(s * 1e3)),
        s => format!("{} s", digits(s)),
    }
}

/// Nanoseconds as microseconds, to a hundredth.
pub fn microseconds(ns: u64) -> String {
    format!("{}.{:02}", ns / 1000, ns % 1000 / 10)
}

/// Bytes as MiB, to a tenth.
pub fn mebibytes(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A length with its unit: 64 B, 1 KiB.
pub fn length(value: f64) -> String {
    let text = bytes(value);
    let space = if text.ends_with('i') { "" } else { " " };
    format!("{text}{space}B")
}

/// Bytes: 64, 1 Ki, 16 Ki.
pub fn bytes(value: f64) -> String {
    match value / 1024.0 {
        k if k >= 1024.0 && (k / 1024.0).fract() == 0.0 => format!("{} Mi", k / 1024.0),
        k if k >= 1.0 && k.fract() == 0.0 => format!("{k} Ki"),
        _ => format!("{value}"),
    }
}

/// A count or a time as a real number.
#[expect(clippy::cast_precision_loss, reason = "counts and times below 2^52")]
pub fn float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_the_digits_that_matter() {
        let shown = [1234.4, 99.97, 12.34, 1.234, 0.0123, 0.0].map(digits);
        assert_eq!(shown, ["1234", "100", "12.3", "1.23", "0.0123", "0.00"]);
        assert_eq!(microseconds(12_345), "12.34");
        assert_eq!(mebibytes(3 << 19), "1.5");
    }

    #[test]
    fn numbers_have_no_zeros_at_their_ends() {
        let shown = [0.0, 0.123, 1.5, 12.34, 123.4, 9999.0, 12_345.0, 2.5e6, 3e9].map(number);
        let expected = "0,0.12,1.5,12.3,123,9999,12.3 k,2.5 M,3 G";
        assert_eq!(shown.join(","), expected);
        assert_eq!([64.0, 2048.0].map(length), ["64 B", "2 KiB"]);
        let shown = [64.0, 1024.0, 1500.0, 1_048_576.0].map(bytes);
        assert_eq!(shown, ["64", "1 Ki", "1500", "1 Mi"]);
    }

    #[test]
    fn durations_have_three_digits() {
        for (nanoseconds, expected) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (99_970, "100 µs"),
            (1_234_000, "1.23 ms"),
            (61_000_000_000, "61.0 s"),
        ] {
            assert_eq!(duration(Duration::from_nanos(nanoseconds)), expected);
        }
    }
}
