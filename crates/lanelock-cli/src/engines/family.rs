//! A family's names folded into one.

/// The names of a family as one: `aes-{128,192,256}-cbc`.
pub(super) fn family(names: &[String]) -> String {
    let [first, .., last] = names else {
        return names.concat();
    };
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let reversed = |s: &str| s.chars().rev().collect::<String>();
    // Cut at hyphens, so that 192 and 128 do not share their 1.
    let front = first[..same(first, last)].rfind('-').map_or(0, |at| at + 1);
    let back = same(&reversed(first), &reversed(last));
    let back = first[first.len() - back..]
        .find('-')
        .map_or(0, |at| back - at);
    let middle = |name: &String| match name.len().checked_sub(back) {
        Some(end) if end > front => name[front..end].to_owned(),
        _ => String::new(),
    };
    let middles: Vec<String> = names.iter().map(middle).collect();
    if middles.iter().any(String::is_empty) {
        return names.join(", ");
    }
    let (start, end) = (&first[..front], &first[first.len() - back..]);
    format!("{start}{{{}}}{end}", middles.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_family_fold_into_one() {
        let fold =
            |names: &[&str]| family(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            fold(&["aes-128-cbc", "aes-192-cbc", "aes-256-cbc"]),
            "aes-{128,192,256}-cbc"
        );
        assert_eq!(fold(&["aes-128-xts", "aes-256-xts"]), "aes-{128,256}-xts");
        assert_eq!(
            fold(&["3des-2key-cbc", "3des-cbc"]),
            "3des-2key-cbc, 3des-cbc"
        );
        assert_eq!(fold(&["chacha20"]), "chacha20");
    }
}
