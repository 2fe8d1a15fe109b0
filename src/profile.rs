//! What a dealer is: its name and rooftops, as `dealer.information` answers them and as search and the
//! ADF writer need them. Must not know where the facts came from.

use serde_json::{Map, Value};

/// One dealer's public profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The seller's id within the endpoint; required in aggregate scope.
    pub dealer_id: Option<String>,
    pub name: String,
    pub welcome_message: Option<String>,
    pub rooftops: Vec<Rooftop>,
}

/// One physical place of a dealer.
#[derive(Clone, Debug)]
pub struct Rooftop {
    /// Unique in a dealer-scoped endpoint; the value of `Vehicle.rooftop` (AAP-355).
    pub name: String,
    /// WGS84 latitude and longitude in degrees, when the place is known.
    pub geo: Option<(f64, f64)>,
    /// IANA name.
    pub timezone: Option<String>,
    /// The complete AAP Rooftop object (contract section 1.4), these members included.
    pub public: Map<String, Value>,
}

impl Rooftop {
    /// A rooftop from its AAP object; nothing where that has no name.
    pub fn from_public(public: Map<String, Value>) -> Option<Self> {
        let text = |name: &str| public.get(name).and_then(Value::as_str).map(str::to_owned);
        let degrees = |name: &str| public.get("geo")?.get(name)?.as_f64();
        Some(Self {
            name: text("name")?,
            geo: degrees("latitude").zip(degrees("longitude")),
            timezone: text("timezone"),
            public,
        })
    }
}

impl Profile {
    /// The AAP `DealerInformation` object, without `dealer_id`.
    pub fn to_value(&self) -> Value {
        let mut data = Map::new();
        data.insert("name".into(), self.name.as_str().into());
        if let Some(welcome) = &self.welcome_message {
            data.insert("welcome_message".into(), welcome.as_str().into());
        }
        let rooftops = self
            .rooftops
            .iter()
            .map(|r| Value::Object(r.public.clone()))
            .collect();
        data.insert("rooftops".into(), Value::Array(rooftops));
        Value::Object(data)
    }

    /// The rooftop with exactly this name.
    pub fn rooftop(&self, name: &str) -> Option<&Rooftop> {
        self.rooftops.iter().find(|rooftop| rooftop.name == name)
    }
}
