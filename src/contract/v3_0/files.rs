//! The schema files of AAP 3.0, embedded. Must hold nothing but their names and texts.

/// Name of a schema and its JSON text, in alphabetical order.
pub(super) const FILES: &[(&str, &str)] = &[
    (
        "aap-extension-params",
        include_str!("schemas/aap-extension-params.schema.json"),
    ),
    ("address", include_str!("schemas/address.schema.json")),
    ("agent-card", include_str!("schemas/agent-card.schema.json")),
    (
        "appointment",
        include_str!("schemas/appointment.schema.json"),
    ),
    (
        "appointment-outcome",
        include_str!("schemas/appointment-outcome.schema.json"),
    ),
    (
        "client-assertion",
        include_str!("schemas/client-assertion.schema.json"),
    ),
    (
        "client-metadata",
        include_str!("schemas/client-metadata.schema.json"),
    ),
    (
        "consent-grant",
        include_str!("schemas/consent-grant.schema.json"),
    ),
    (
        "contact-point",
        include_str!("schemas/contact-point.schema.json"),
    ),
    ("customer", include_str!("schemas/customer.schema.json")),
    ("day-hours", include_str!("schemas/day-hours.schema.json")),
    ("dealer-fee", include_str!("schemas/dealer-fee.schema.json")),
    (
        "dealer-information",
        include_str!("schemas/dealer-information.schema.json"),
    ),
    (
        "dealer-information-request",
        include_str!("schemas/dealer-information-request.schema.json"),
    ),
    (
        "dealer-information-response",
        include_str!("schemas/dealer-information-response.schema.json"),
    ),
    ("error", include_str!("schemas/error.schema.json")),
    ("facets", include_str!("schemas/facets.schema.json")),
    (
        "feature-evidence",
        include_str!("schemas/feature-evidence.schema.json"),
    ),
    (
        "feature-facet",
        include_str!("schemas/feature-facet.schema.json"),
    ),
    ("filters", include_str!("schemas/filters.schema.json")),
    (
        "inventory-capabilities",
        include_str!("schemas/inventory-capabilities.schema.json"),
    ),
    (
        "inventory-facets-request",
        include_str!("schemas/inventory-facets-request.schema.json"),
    ),
    (
        "inventory-facets-response",
        include_str!("schemas/inventory-facets-response.schema.json"),
    ),
    (
        "inventory-listing",
        include_str!("schemas/inventory-listing.schema.json"),
    ),
    (
        "inventory-search-request",
        include_str!("schemas/inventory-search-request.schema.json"),
    ),
    (
        "inventory-search-response",
        include_str!("schemas/inventory-search-response.schema.json"),
    ),
    (
        "lead-submit-request",
        include_str!("schemas/lead-submit-request.schema.json"),
    ),
    (
        "lead-submit-response",
        include_str!("schemas/lead-submit-response.schema.json"),
    ),
    (
        "oauth-metadata",
        include_str!("schemas/oauth-metadata.schema.json"),
    ),
    ("poppy", include_str!("schemas/poppy.schema.json")),
    (
        "poppy-document",
        include_str!("schemas/poppy-document.schema.json"),
    ),
    (
        "protected-resource-metadata",
        include_str!("schemas/protected-resource-metadata.schema.json"),
    ),
    (
        "range-facet",
        include_str!("schemas/range-facet.schema.json"),
    ),
    ("rooftop", include_str!("schemas/rooftop.schema.json")),
    ("schedule", include_str!("schemas/schedule.schema.json")),
    (
        "session-assertion",
        include_str!("schemas/session-assertion.schema.json"),
    ),
    ("sort", include_str!("schemas/sort.schema.json")),
    (
        "source-agent",
        include_str!("schemas/source-agent.schema.json"),
    ),
    ("term-facet", include_str!("schemas/term-facet.schema.json")),
    (
        "token-exchange-request",
        include_str!("schemas/token-exchange-request.schema.json"),
    ),
    (
        "token-exchange-response",
        include_str!("schemas/token-exchange-response.schema.json"),
    ),
    (
        "token-request",
        include_str!("schemas/token-request.schema.json"),
    ),
    (
        "token-response",
        include_str!("schemas/token-response.schema.json"),
    ),
    ("vehicle", include_str!("schemas/vehicle.schema.json")),
    (
        "vehicle-detail-request",
        include_str!("schemas/vehicle-detail-request.schema.json"),
    ),
    (
        "vehicle-detail-response",
        include_str!("schemas/vehicle-detail-response.schema.json"),
    ),
    (
        "weekly-hours",
        include_str!("schemas/weekly-hours.schema.json"),
    ),
];
