//! The vehicles of a lead as ADF blocks. Facts the buyer did not give come from the verified listing only;
//! a vehicle without year, make and model becomes a sentence, never an invented block (AAP-564, AAP-575).

use serde_json::Value;

use super::facts::{in_words, positive, text};
use super::model::{Interest, Status, Transmission, Vehicle};
use super::profile::{AdfProfile, ConditionRule};

/// The wanted vehicle, when there is enough of it.
pub(super) fn wanted(request: &Value, listing: Option<&Value>) -> Option<Vehicle> {
    let asked = request.get("vehicle_of_interest")?;
    let both = Facts { asked, listing };
    let test_drive = request
        .pointer("/appointment/appointment_type")
        .is_some_and(|kind| kind == "test_drive");
    let mut vehicle = both.block(if test_drive {
        Interest::TestDrive
    } else {
        Interest::Buy
    })?;
    vehicle.stock = both.text("stock");
    vehicle.quote_usd = positive(Some(asked), "price");
    let condition = both.text("condition");
    vehicle.status = match condition.as_deref() {
        Some("new") => Some(Status::New),
        Some("used" | "cpo") => Some(Status::Used),
        _ => None,
    };
    let certified = (condition.as_deref() == Some("cpo")).then(|| "certified pre-owned".to_owned());
    vehicle.notes = certified
        .into_iter()
        .chain(both.notes())
        .chain(dealer_notes(asked))
        .collect();
    Some(vehicle)
}

/// The trade-in, when there is enough of it. It bears no stock number: that would be the dealer's.
pub(super) fn trade_in(request: &Value, profile: &AdfProfile) -> Option<Vehicle> {
    let offered = request.get("trade_in")?;
    let facts = Facts {
        asked: offered,
        listing: None,
    };
    let mut vehicle = facts.block(Interest::TradeIn)?;
    vehicle.status = profile.trade_in_status.then_some(Status::Used);
    let condition = facts.text("condition");
    let mut notes = Vec::new();
    match profile.trade_in_condition {
        ConditionRule::Element => vehicle.condition = condition,
        ConditionRule::Comments => notes
            .extend(condition.map(|condition| {
                format!("Trade-in condition reported by the buyer: {condition}.")
            })),
    }
    notes.extend(facts.notes());
    vehicle.notes = notes;
    Some(vehicle)
}

/// Whether the trade-in is a block.
pub(super) fn is_offered(request: &Value) -> bool {
    let offered = request.get("trade_in");
    let block = |asked| {
        Facts {
            asked,
            listing: None,
        }
        .block(Interest::TradeIn)
    };
    offered.and_then(block).is_some()
}

/// What is known of a vehicle that is no block, in one sentence.
pub(super) fn sentence(lead_in: &str, vehicle: Option<&Value>) -> Option<String> {
    const SAID: [(&str, &str); 9] = [
        ("year", ""),
        ("make", ""),
        ("model", ""),
        ("trim", ""),
        ("vin", "VIN "),
        ("stock", "stock "),
        ("vehicle_id", "listing "),
        ("condition", "condition "),
        ("mileage", "miles "),
    ];
    let vehicle = vehicle?;
    let words: Vec<String> = SAID
        .iter()
        .filter_map(|(key, label)| {
            let word = in_words(vehicle.get(*key)?);
            (!word.trim().is_empty()).then(|| format!("{label}{}", word.trim()))
        })
        .collect();
    (!words.is_empty()).then(|| format!("{lead_in}: {}.", words.join(", ")))
}

/// What the buyer said, completed from the verified listing.
struct Facts<'a> {
    asked: &'a Value,
    listing: Option<&'a Value>,
}

impl Facts<'_> {
    fn text(&self, key: &str) -> Option<String> {
        text(Some(self.asked), key).or_else(|| text(self.listing, key))
    }

    fn number(&self, key: &str) -> Option<i64> {
        positive(Some(self.asked), key).or_else(|| positive(self.listing, key))
    }

    fn block(&self, interest: Interest) -> Option<Vehicle> {
        Some(Vehicle {
            interest,
            status: None,
            year: self.number("year")?.to_string(),
            make: self.text("make")?,
            model: self.text("model")?,
            vin: self.text("vin"),
            stock: None,
            trim: self.text("trim"),
            bodystyle: self.text("body"),
            transmission: self
                .text("transmission")
                .as_deref()
                .and_then(fold_transmission),
            odometer_mi: self.number("mileage"),
            condition: None,
            interior_color: self.text("interior_color"),
            exterior_color: self.text("exterior_color"),
            quote_usd: None,
            notes: Vec::new(),
        })
    }

    /// What ADF has no element for (AAP-566).
    fn notes(&self) -> Vec<String> {
        let asked = Some(self.asked);
        let mut notes = Vec::new();
        let transmission = self.text("transmission");
        if let Some(words) = transmission.filter(|words| fold_transmission(words).is_none()) {
            notes.push(format!("Transmission: {words}"));
        }
        if let Some(displacement) = positive(asked, "displacement_cc") {
            notes.push(format!("Displacement: {displacement}cc"));
        }
        let further = self
            .asked
            .get("other_attributes")
            .and_then(Value::as_object);
        for (name, value) in further.into_iter().flatten() {
            let words = in_words(value);
            if !words.trim().is_empty() {
                notes.push(format!("{name}: {words}"));
            }
        }
        if let Some(kind) = text(asked, "vehicle_type").filter(|kind| kind != "car") {
            notes.push(format!("Vehicle type: {kind}"));
        }
        for (key, label) in [
            ("engine", "Engine"),
            ("fuel", "Fuel"),
            ("driveline", "Driveline"),
            ("notes", "Notes"),
        ] {
            notes.extend(text(asked, key).map(|words| format!("{label}: {words}")));
        }
        notes
    }
}

/// AAP's own fields that help the dealer to find the car (AAP-573).
fn dealer_notes(asked: &Value) -> Vec<String> {
    let asked = Some(asked);
    let mut notes = Vec::new();
    notes.extend(text(asked, "vehicle_id").map(|id| format!("Listing: {id}")));
    for (key, label) in [("msrp", "MSRP"), ("list_price", "List price")] {
        notes.extend(positive(asked, key).map(|amount| format!("{label}: {amount} USD")));
    }
    notes
}

/// ADF's A or M; `None` for what is neither in plain words.
fn fold_transmission(words: &str) -> Option<Transmission> {
    let words = words.to_lowercase();
    let automatic = [
        "auto",
        "cvt",
        "dual-clutch",
        "dual clutch",
        "dct",
        "tiptronic",
    ];
    if words == "a" || automatic.iter().any(|word| words.contains(word)) {
        Some(Transmission::Automatic)
    } else if words == "m" || words.contains("manual") {
        Some(Transmission::Manual)
    } else {
        None
    }
}
