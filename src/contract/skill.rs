//! The five AAP operations and the names derived from each. Every other name of a skill comes from here.

/// One of the five AAP operations. Its id is the only name it has; the order is the order of listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skill {
    DealerInformation,
    InventoryFacets,
    InventorySearch,
    InventoryVehicle,
    LeadSubmit,
}

impl Skill {
    /// Every skill, in listing order (AAP-079).
    pub const ALL: [Self; 5] = [
        Self::DealerInformation,
        Self::InventoryFacets,
        Self::InventorySearch,
        Self::InventoryVehicle,
        Self::LeadSubmit,
    ];

    /// The AAP skill id, e.g. `inventory.search`.
    pub fn id(self) -> &'static str {
        match self {
            Self::DealerInformation => "dealer.information",
            Self::InventoryFacets => "inventory.facets",
            Self::InventorySearch => "inventory.search",
            Self::InventoryVehicle => "inventory.vehicle",
            Self::LeadSubmit => "lead.submit",
        }
    }

    /// The MCP tool name (AAP-078).
    pub fn tool_name(self) -> &'static str {
        match self {
            Self::DealerInformation => "aap_dealer_information",
            Self::InventoryFacets => "aap_inventory_facets",
            Self::InventorySearch => "aap_inventory_search",
            Self::InventoryVehicle => "aap_inventory_vehicle",
            Self::LeadSubmit => "aap_lead_submit",
        }
    }

    /// The stem of schema files and media types; `inventory.vehicle` is `vehicle-detail`.
    pub fn stem(self) -> &'static str {
        match self {
            Self::DealerInformation => "dealer-information",
            Self::InventoryFacets => "inventory-facets",
            Self::InventorySearch => "inventory-search",
            Self::InventoryVehicle => "vehicle-detail",
            Self::LeadSubmit => "lead-submit",
        }
    }

    /// The `type` of the skill's request payload.
    pub fn request_type(self) -> String {
        format!("{}.request", self.id())
    }

    /// The `type` of the skill's response payload.
    pub fn response_type(self) -> String {
        format!("{}.response", self.id())
    }

    /// The media type of the request payload on A2A.
    pub fn request_media_type(self) -> String {
        format!("application/vnd.autoagent.{}-request+json", self.stem())
    }

    /// The media type of the response payload on A2A.
    pub fn response_media_type(self) -> String {
        format!("application/vnd.autoagent.{}-response+json", self.stem())
    }

    /// The skill with this id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|skill| skill.id() == id)
    }

    /// The skill behind this MCP tool name.
    pub fn from_tool_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|skill| skill.tool_name() == name)
    }

    /// Whether the skill only reads. `lead.submit` alone has an effect.
    pub fn is_read(self) -> bool {
        self != Self::LeadSubmit
    }
}
