//! The rules of search once more, as slowly and plainly as can be: straight from listing objects and
//! request objects, with nothing of the engine.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Value, json};

/// What a search over `listings` must answer: all matches in order, with their distances.
pub(super) struct Expected {
    pub(super) ids: Vec<String>,
    pub(super) distances: Vec<Option<f64>>,
    pub(super) facets: Value,
    /// Some distance is so near the radius that two right formulas may differ.
    pub(super) doubtful: bool,
}

pub(super) struct Oracle {
    pub(super) listings: Vec<Value>,
    /// Dealer (or null), rooftop, latitude, longitude.
    pub(super) rooftops: Vec<(Value, String, f64, f64)>,
    pub(super) features: Vec<String>,
    pub(super) aggregate: bool,
}

impl Oracle {
    pub(super) fn answer(&self, filters: &Value, sort: &Value) -> Expected {
        let mut doubtful = false;
        let mut matches: Vec<(&Value, Option<f64>)> = Vec::new();
        for listing in &self.listings {
            let distance = filters.get("near").and_then(|near| {
                let miles = self.distance(listing, near)?;
                let radius = near["radius_mi"].as_f64().unwrap();
                doubtful |= (miles - radius).abs() < 0.01;
                Some(miles)
            });
            if Self::matches(listing, filters, distance) {
                matches.push((listing, distance));
            }
        }
        let facets = self.facets(matches.iter().map(|(listing, _)| *listing).collect());
        let field = sort["field"].as_str().unwrap();
        let descending = sort["order"] == "desc";
        matches.sort_by(|a, b| {
            by_value(field, descending, *a, *b).then_with(|| self.tie(a.0).cmp(&self.tie(b.0)))
        });
        Expected {
            ids: matches
                .iter()
                .map(|(l, _)| text(l, "vehicle_id").unwrap())
                .collect(),
            distances: matches.iter().map(|(_, distance)| *distance).collect(),
            facets,
            doubtful,
        }
    }

    fn tie(&self, listing: &Value) -> (Option<String>, Option<String>) {
        let dealer = text(listing, "dealer_id").filter(|_| self.aggregate);
        (dealer, text(listing, "vehicle_id"))
    }

    fn matches(listing: &Value, filters: &Value, distance: Option<f64>) -> bool {
        let filters = filters.as_object().unwrap();
        filters.iter().all(|(name, wanted)| match name.as_str() {
            "make" | "model" | "trim" | "body" | "transmission" | "fuel" | "driveline"
            | "charge_port" | "exterior_color" | "interior_color" => {
                let has = text(listing, name).map(|has| lower(&has));
                strings(wanted).iter().any(|one| Some(lower(one)) == has)
            }
            "condition" | "status" => strings(wanted)
                .iter()
                .any(|o| Some(o) == text(listing, name).as_ref()),
            "vehicle_type" => {
                let has = text(listing, name).unwrap_or("car".into());
                strings(wanted).contains(&has)
            }
            "rooftops" => strings(wanted)
                .iter()
                .any(|o| Some(o) == text(listing, "rooftop").as_ref()),
            "dc_fast_charge" => listing.get("dc_fast_charge") == Some(wanted),
            "vin" | "stock" => listing.get(name) == Some(wanted),
            "query" => wanted.as_str().unwrap().split_whitespace().all(|token| {
                let mut texts: Vec<String> = ["make", "model", "trim", "vin", "stock"]
                    .iter()
                    .filter_map(|field| text(listing, field))
                    .collect();
                texts.extend(strings(&listing["features"]));
                texts.iter().any(|one| lower(one).contains(&lower(token)))
            }),
            "features_all" => strings(wanted)
                .iter()
                .all(|code| has_feature(listing, code)),
            "features_any" => strings(wanted)
                .iter()
                .any(|code| has_feature(listing, code)),
            "near" => distance.is_some_and(|d| d <= wanted["radius_mi"].as_f64().unwrap()),
            bound => {
                let (field, is_min) = match bound.strip_suffix("_min") {
                    Some(field) => (field, true),
                    None => (bound.strip_suffix("_max").unwrap(), false),
                };
                let wanted = wanted.as_f64().unwrap();
                listing
                    .get(field)
                    .and_then(Value::as_f64)
                    .is_some_and(|has| if is_min { has >= wanted } else { has <= wanted })
            }
        })
    }

    /// By the angle between two unit vectors: not the formula of the engine.
    fn distance(&self, listing: &Value, near: &Value) -> Option<f64> {
        let rooftop = text(listing, "rooftop")?;
        let dealer = if self.aggregate {
            listing["dealer_id"].clone()
        } else {
            Value::Null
        };
        let place = self
            .rooftops
            .iter()
            .find(|r| r.0 == dealer && r.1 == rooftop)?;
        let vector = |latitude: f64, longitude: f64| {
            let (lat, lon) = (latitude.to_radians(), longitude.to_radians());
            [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
        };
        let a = vector(place.2, place.3);
        let b = vector(
            near["latitude"].as_f64().unwrap(),
            near["longitude"].as_f64().unwrap(),
        );
        let cross = [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ];
        let sine = cross.iter().map(|c| c * c).sum::<f64>().sqrt();
        let cosine = a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        Some(3958.7613 * sine.atan2(cosine))
    }

    /// Counts by compared value; the spelling that is shown is checked apart.
    fn facets(&self, listings: Vec<&Value>) -> Value {
        let groups = [
            ("makes", "make", true),
            ("models", "model", true),
            ("trims", "trim", true),
            ("years", "year", false),
            ("conditions", "condition", false),
            ("statuses", "status", false),
            ("vehicle_types", "vehicle_type", false),
            ("bodies", "body", true),
            ("rooftops", "rooftop", false),
            ("exterior_colors", "exterior_color", true),
            ("interior_colors", "interior_color", true),
            ("fuels", "fuel", true),
            ("transmissions", "transmission", true),
            ("drivelines", "driveline", true),
            ("charge_ports", "charge_port", true),
            ("dc_fast_charge", "dc_fast_charge", false),
        ];
        let mut facets = json!({});
        for (facet, field, folded) in groups {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for listing in &listings {
                let key = match &listing[field] {
                    Value::Null if field == "vehicle_type" => "\"car\"".into(),
                    Value::Null => continue,
                    Value::String(text) if folded => json!(lower(text)).to_string(),
                    other => other.to_string(),
                };
                *counts.entry(key).or_default() += 1;
            }
            facets[facet] = json!(counts);
        }
        for (facet, field) in [
            ("price_range", "price"),
            ("mileage_range", "mileage"),
            ("year_range", "year"),
            ("displacement_cc_range", "displacement_cc"),
            ("electric_range_mi_range", "electric_range_mi"),
        ] {
            let known: Vec<f64> = listings.iter().filter_map(|l| l[field].as_f64()).collect();
            if !known.is_empty() {
                let min = known.iter().copied().fold(f64::INFINITY, f64::min);
                let max = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                facets[facet] = json!({"min": min, "max": max});
            }
        }
        if !self.features.is_empty() {
            let counts: BTreeMap<&String, usize> = self
                .features
                .iter()
                .map(|code| {
                    (
                        code,
                        listings.iter().filter(|l| has_feature(l, code)).count(),
                    )
                })
                .collect();
            facets["features"] = json!(counts);
        }
        facets
    }
}

fn by_value(
    field: &str,
    descending: bool,
    a: (&Value, Option<f64>),
    b: (&Value, Option<f64>),
) -> Ordering {
    let directed = |ordering: Ordering| {
        if descending {
            ordering.reverse()
        } else {
            ordering
        }
    };
    match field {
        "make" | "model" => missing_last(text(a.0, field), text(b.0, field), |a, b| {
            directed(lower(&a).cmp(&lower(&b)))
        }),
        "stock" => missing_last(text(a.0, field), text(b.0, field), |a, b| {
            directed(a.cmp(&b))
        }),
        "updated_at" => {
            let at = |l: &Value| text(l, field)?.parse::<jiff::Timestamp>().ok();
            missing_last(at(a.0), at(b.0), |a, b| directed(a.cmp(&b)))
        }
        // Two right formulas agree to less than this.
        "distance_mi" => missing_last(a.1, b.1, |a, b| {
            if (a - b).abs() < 1e-4 {
                Ordering::Equal
            } else {
                directed(a.total_cmp(&b))
            }
        }),
        _ => missing_last(a.0[field].as_f64(), b.0[field].as_f64(), |a, b| {
            directed(a.total_cmp(&b))
        }),
    }
}

fn missing_last<T>(a: Option<T>, b: Option<T>, compare: impl Fn(T, T) -> Ordering) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare(a, b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

fn has_feature(listing: &Value, code: &str) -> bool {
    let evidence = listing["feature_evidence"].as_array();
    evidence
        .into_iter()
        .flatten()
        .any(|e| e["code"] == code && e["status"] == "present")
}

fn text(listing: &Value, field: &str) -> Option<String> {
    listing[field].as_str().map(str::to_owned)
}

fn strings(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// Unicode lowercase; a final sigma is a sigma.
pub(super) fn lower(text: &str) -> String {
    text.to_lowercase().replace('ς', "σ")
}
