//! What a module says of itself: JSON, for a C string is what C can do without help.

use serde::Deserialize;

use crate::checks::check_card;
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Card, KeyVariable, PROTOCOL, Role, Snapshot, Support};

/// Longest card.
const CARD_BYTES_MAX: usize = 64 << 10;
/// Most variables of the key; the room of a module must hold them in every step.
const KEY_VARIABLES_MAX: usize = 256;
/// The optional parts of what a driver is told.
const WANTS: [&str; 3] = ["walls", "samples", "occupancy"];

/// What a module may say; how its states are kept is not its business.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    cycle_s: Option<f64>,
    #[serde(default)]
    key: Vec<KeyVariable>,
    #[serde(default)]
    memoryless: bool,
    #[serde(default)]
    wants: Vec<String>,
}

/// Reads the zero-terminated text at an address.
pub(super) fn read(memory: &[u8], address: u32) -> Result<Card, Misbehaviour> {
    let malformed = |text: String| Misbehaviour::new(Kind::Malformed, format!("the card: {text}"));
    let from = memory.get(address as usize..).unwrap_or_default();
    let from = &from[..from.len().min(CARD_BYTES_MAX)];
    let Some(bytes) = from.iter().position(|&byte| byte == 0) else {
        return Err(malformed(format!(
            "no text of at most {CARD_BYTES_MAX} bytes that ends with a zero at address {address}"
        )));
    };
    let said: Said = serde_json::from_slice(&from[..bytes]).map_err(|error| malformed(error.to_string()))?;
    if said.key.len() > KEY_VARIABLES_MAX {
        return Err(malformed(format!("{} key variables, {KEY_VARIABLES_MAX} are allowed", said.key.len())));
    }
    if let Some(want) = said.wants.iter().find(|want| !WANTS.contains(&want.as_str())) {
        return Err(malformed(format!("it wants `{want}`; there is {}", WANTS.join(", "))));
    }
    let card = Card {
        protocol: PROTOCOL,
        role: Role::Driver,
        name: said.name,
        version: said.version,
        support: Support::Save,
        snapshot: Snapshot::Memory,
        cycle_s: said.cycle_s,
        key: said.key,
        saves_bytes: true,
        memoryless: said.memoryless,
        wants: said.wants,
        code: None,
        world: None,
    };
    check_card(&card)?;
    Ok(card)
}
