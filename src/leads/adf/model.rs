//! An ADF 1.0 prospect as types: what the standard lets one say, so that nothing else can be said. Must not
//! know AAP.

/// The one prospect of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prospect {
    pub id: Option<Id>,
    /// ISO 8601 with a numeric offset.
    pub request_date: String,
    /// The wanted vehicle first, a trade-in last; never empty.
    pub vehicles: Vec<Vehicle>,
    pub customer: Customer,
    pub vendor: Vendor,
    pub provider: Provider,
}

/// An id with the system that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id {
    pub source: String,
    pub value: String,
}

/// What the customer wants of a vehicle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    Buy,
    TestDrive,
    TradeIn,
}

/// ADF knows no certified value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    New,
    Used,
}

/// ADF's two transmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    Automatic,
    Manual,
}

/// A vehicle; year, make and model are required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vehicle {
    pub interest: Interest,
    pub status: Option<Status>,
    pub year: String,
    pub make: String,
    pub model: String,
    pub vin: Option<String>,
    pub stock: Option<String>,
    pub trim: Option<String>,
    pub bodystyle: Option<String>,
    pub transmission: Option<Transmission>,
    pub odometer_mi: Option<i64>,
    /// Only for receivers that read it: the appendix of the standard leaves it out of the vehicle.
    pub condition: Option<String>,
    pub interior_color: Option<String>,
    pub exterior_color: Option<String>,
    /// Whole US dollars.
    pub quote_usd: Option<i64>,
    /// The notes that become the one comments element.
    pub notes: Vec<String>,
}

/// Which part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamePart {
    Full,
    First,
    Last,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Customer {
    pub names: Vec<(NamePart, String)>,
    pub email: Option<Reachable>,
    pub phone: Option<Reachable>,
    pub address: Option<Address>,
    pub comments: Option<String>,
}

/// An e-mail address or phone number, and whether it is the one to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reachable {
    pub value: String,
    pub preferred: bool,
}

/// An address; at least one street line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub streets: Vec<String>,
    pub city: Option<String>,
    pub region: Option<String>,
    pub postal_code: Option<String>,
    pub country: String,
}

/// The selling dealership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vendor {
    pub name: String,
    pub contact_name: String,
    pub email: Option<String>,
    pub phone: Option<String>,
}

/// Where the lead comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    pub name: String,
    pub service: Option<String>,
    pub url: Option<String>,
}
