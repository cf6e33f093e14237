//! Bounded numbers on the command line, with errors that say the bounds.

use std::time::Duration;

/// A parser for whole numbers from `min` to `max`.
pub fn number(
    min: usize,
    max: usize,
) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync + 'static {
    move |text| match text.parse() {
        Ok(n) if (min..=max).contains(&n) => Ok(n),
        _ => Err(format!("'{text}': use a number from {min} to {max}")),
    }
}

/// A parser for times in seconds, above 0 or from `min` to `max`.
pub fn seconds(
    min: f64,
    max: f64,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| match text.parse::<f64>() {
        Ok(s) if s > 0.0 && (min..=max).contains(&s) => Ok(Duration::from_secs_f64(s)),
        _ if min > 0.0 => Err(format!("'{text}': use seconds from {min} to {max}")),
        _ => Err(format!("'{text}': use seconds above 0, up to {max}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_the_bounds() {
        assert_eq!(number(1, 9)("3"), Ok(3));
        assert_eq!(
            number(1, 9)("0").unwrap_err(),
            "'0': use a number from 1 to 9"
        );
        assert_eq!(
            number(1, 9)("x").unwrap_err(),
            "'x': use a number from 1 to 9"
        );
        assert_eq!(seconds(0.0, 3600.0)("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["0", "-1", "nan", "1e9", "soon"] {
            assert!(seconds(0.0, 3600.0)(bad).is_err(), "{bad}");
        }
    }
}
