//! Text for markup: escaped, and numbers with the digits that matter.

/// `text` with what markup would take for its own replaced.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Up to three digits that matter, thousands as k, M, G.
pub(super) fn number(value: f64) -> String {
    let magnitude = value.abs();
    let (value, unit) = match magnitude {
        m if m >= 1e9 => (value / 1e9, " G"),
        m if m >= 1e6 => (value / 1e6, " M"),
        m if m >= 1e4 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let digits = match value.abs() {
        v if v >= 100.0 || v == 0.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    };
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    format!("{digits}{unit}")
}

/// A length with its unit: 64 B, 1 KiB.
pub(super) fn length(value: f64) -> String {
    let text = bytes(value);
    let space = if text.ends_with('i') { "" } else { " " };
    format!("{text}{space}B")
}

/// Bytes: 64, 1 Ki, 16 Ki.
pub(super) fn bytes(value: f64) -> String {
    let kibi = value / 1024.0;
    match kibi {
        k if k >= 1024.0 && (k / 1024.0).fract() == 0.0 => format!("{} Mi", k / 1024.0),
        k if k >= 1.0 && k.fract() == 0.0 => format!("{k} Ki"),
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
    }

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let shown = [0.0, 0.123, 1.5, 12.34, 123.4, 9999.0, 12_345.0, 2.5e6, 3e9].map(number);
        assert_eq!(
            shown,
            [
                "0", "0.12", "1.5", "12.3", "123", "9999", "12.3 k", "2.5 M", "3 G"
            ]
        );
        assert_eq!([64.0, 2048.0].map(length), ["64 B", "2 KiB"]);
        assert_eq!(
            [64.0, 1024.0, 1500.0, 1_048_576.0].map(bytes),
            ["64", "1 Ki", "1500", "1 Mi"]
        );
    }
}
