//! An ADF 1.0 prospect as types: what the standard lets one say, so that nothing else can be said. Must not
//! know AAP.

/// The one prospect of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prospect {
    pub(super) id: Option<Id>,
    /// ISO 8601 with a numeric offset.
    pub(super) request_date: String,
    /// The wanted vehicle first, a trade-in last; never empty.
    pub(super) vehicles: Vec<Vehicle>,
    pub(super) customer: Customer,
    pub(super) vendor: Vendor,
    pub(super) provider: Provider,
}

/// An id with the system that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Id {
    pub(super) source: String,
    pub(super) value: String,
}

/// What the customer wants of a vehicle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    Buy,
    TestDrive,
    TradeIn,
}

/// ADF knows no certified value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    New,
    Used,
}

/// ADF's two transmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transmission {
    Automatic,
    Manual,
}

/// A vehicle; year, make and model are required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vehicle {
    pub(super) interest: Interest,
    pub(super) status: Option<Status>,
    pub(super) year: String,
    pub(super) make: String,
    pub(super) model: String,
    pub(super) vin: Option<String>,
    pub(super) stock: Option<String>,
    pub(super) trim: Option<String>,
    pub(super) bodystyle: Option<String>,
    pub(super) transmission: Option<Transmission>,
    pub(super) odometer_mi: Option<i64>,
    /// Only for receivers that read it: the appendix of the standard leaves it out of the vehicle.
    pub(super) condition: Option<String>,
    pub(super) interior_color: Option<String>,
    pub(super) exterior_color: Option<String>,
    /// Whole US dollars.
    pub(super) quote_usd: Option<i64>,
    /// The notes that become the one comments element.
    pub(super) notes: Vec<String>,
}

/// Which part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamePart {
    Full,
    First,
    Last,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Customer {
    pub(super) names: Vec<(NamePart, String)>,
    pub(super) email: Option<Reachable>,
    pub(super) phone: Option<Reachable>,
    pub(super) address: Option<Address>,
    pub(super) comments: Option<String>,
}

/// An e-mail address or phone number, whether it is the one to use, and of which kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reachable {
    pub(super) value: String,
    pub(super) preferred: bool,
    /// The kind of a phone, where it is to be said though it is ADF's default.
    pub(super) kind: Option<&'static str>,
}

/// An address; at least one street line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) streets: Vec<String>,
    pub(super) city: Option<String>,
    pub(super) region: Option<String>,
    pub(super) postal_code: Option<String>,
    pub(super) country: Option<String>,
}

/// The selling dealership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vendor {
    pub(super) ids: Vec<Id>,
    pub(super) name: String,
    pub(super) contact_name: String,
    pub(super) email: Option<String>,
    pub(super) phone: Option<String>,
}

/// Where the lead comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Provider {
    pub(super) ids: Vec<Id>,
    pub(super) name: String,
    pub(super) service: Option<String>,
    pub(super) url: Option<String>,
}
