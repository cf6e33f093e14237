//! The JSON layout of Wycheproof's files, as far as symmetric algorithms use it.

use serde::{Deserialize, Deserializer};

/// One file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct File {
    pub(super) algorithm: String,
    pub(super) number_of_tests: usize,
    pub(super) test_groups: Vec<Group>,
}

/// Tests with common lengths.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Group {
    pub(super) tests: Vec<Test>,
}

/// One test; fields that an algorithm does not have are empty.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Test {
    pub(super) tc_id: u64,
    #[serde(default)]
    pub(super) comment: String,
    #[serde(deserialize_with = "hex_string")]
    pub(super) key: Vec<u8>,
    #[serde(default, deserialize_with = "hex_string")]
    pub(super) iv: Vec<u8>,
    #[serde(default, deserialize_with = "hex_string")]
    pub(super) aad: Vec<u8>,
    #[serde(deserialize_with = "hex_string")]
    pub(super) msg: Vec<u8>,
    #[serde(default, deserialize_with = "hex_string")]
    pub(super) ct: Vec<u8>,
    #[serde(default, deserialize_with = "hex_string")]
    pub(super) tag: Vec<u8>,
    pub(super) result: Stated,
}

/// What should become of a test.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stated {
    Valid,
    Invalid,
    Acceptable,
}

impl File {
    pub(super) fn parse(json: &str) -> Result<Self, String> {
        let file: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let found = file.tests().count();
        if found != file.number_of_tests {
            let stated = file.number_of_tests;
            return Err(format!(
                "numberOfTests says {stated}, but there are {found}"
            ));
        }
        Ok(file)
    }

    pub(super) fn tests(&self) -> impl Iterator<Item = &Test> {
        self.test_groups.iter().flat_map(|group| &group.tests)
    }
}

fn hex_string<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    hex::decode(&text).map_err(serde::de::Error::custom)
}
