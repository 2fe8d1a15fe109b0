//! VINs: 17 characters of a fixed alphabet, and the North American check digit. A shorter number (old
//! cars, trailers) is not a VIN and is never padded. Must not correct a VIN.

use serde_json::{Map, Value};

use super::Warning;
use super::apply::{End, Work};
use super::field::class_of;
use super::model::BadVin;

/// Keeps a good VIN, and sends another number where the mapping says.
pub(super) fn check(work: &mut Work<'_>, otherwise: &BadVin) -> Result<(), End> {
    let Some(Value::String(written)) = work.out.remove("vin") else {
        return Ok(());
    };
    let candidate: String = written.trim().to_ascii_uppercase();
    let mut warning = Warning {
        field: "vin".to_owned(),
        column: "vin".to_owned(),
        value_class: class_of(&Value::String(candidate.clone())),
        reason: String::new(),
    };
    if is_vin(&candidate) {
        if check_digit(&candidate) == Some(false) {
            "has a check digit that does not fit".clone_into(&mut warning.reason);
            work.warnings.push(warning);
        }
        work.out.insert("vin".to_owned(), Value::String(candidate));
        return Ok(());
    }
    "is no VIN of 17 characters".clone_into(&mut warning.reason);
    match otherwise {
        BadVin::Reject => return Err(End::Reject(warning)),
        BadVin::Omit => {}
        BadVin::Attribute(name) => {
            let mut attributes = Map::new();
            attributes.insert(name.clone(), Value::String(candidate));
            work.out
                .insert("other_attributes".to_owned(), Value::Object(attributes));
        }
    }
    work.warnings.push(warning);
    Ok(())
}

/// `^[A-HJ-NPR-Z0-9]{17}$`
fn is_vin(text: &str) -> bool {
    text.len() == 17
        && text.bytes().all(|byte| {
            byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !b"IOQ".contains(&byte))
        })
}

/// Whether position 9 is the weighted remainder (49 CFR 565.15).
fn check_digit(vin: &str) -> Option<bool> {
    const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let mut sum = 0;
    for (byte, weight) in vin.bytes().zip(WEIGHTS) {
        sum += transliterate(byte)? * weight;
    }
    let expected = match sum % 11 {
        10 => 'X',
        digit => char::from_digit(digit, 10)?,
    };
    Some(vin.chars().nth(8) == Some(expected))
}

fn transliterate(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'0'..=b'9' => byte - b'0',
        b'A'..=b'H' => byte - b'A' + 1,
        b'J'..=b'N' => byte - b'J' + 1,
        b'P' => 7,
        b'R' => 9,
        b'S'..=b'Z' => byte - b'S' + 2,
        _ => return None,
    }))
}
