//! A stable part of a suite, so that several machines share it.

use std::str::FromStr;

use anabranch_kernel::Digest;

/// `2/8`: the second of eight parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u32,
    of: u32,
}

/// Most parts; more than any farm has.
const SHARDS_MAX: u32 = 10_000;

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
        match parts {
            Some((number, of)) if 1 <= number && number <= of && of <= SHARDS_MAX => Ok(Self { number, of }),
            _ => Err("write which part of how many, as in 2/8".to_owned()),
        }
    }
}

impl Shard {
    /// Whether a case belongs to this part. It depends on the case's name alone, so that a new case moves no other.
    pub fn has(self, name: &str) -> bool {
        Digest::of(name.as_bytes()).0 % u128::from(self.of) == u128::from(self.number - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_in_exactly_one_part() {
        let shards: Vec<Shard> = (1..=4).map(|k| format!("{k}/4").parse().unwrap()).collect();
        for number in 0..200 {
            let name = format!("scenarios/{number}.toml");
            assert_eq!(shards.iter().filter(|shard| shard.has(&name)).count(), 1, "{name}");
        }
        assert!(shards.iter().all(|shard| (0..200).any(|n| shard.has(&format!("scenarios/{n}.toml")))));
    }

    #[test]
    fn parts_that_are_none_are_refused() {
        for text in ["0/4", "5/4", "1", "1/0", "a/b", "1/10001", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
