//! `[deployments.ID.inventory]` and `[deployments.ID.search]`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::super::raw;
use super::{Inventory, Scope, source};
use crate::contract::capabilities::{Scope as SearchScope, SearchOptions};
use crate::contract::request::Sort;
use crate::contract::{Capabilities, Skill};
use crate::inventory::Settings;
use crate::mapping::Mapping;
use crate::profile::Profile;

/// The bounds of `look_up_timeout_ms`.
const LOOK_UP_TIMEOUT_MS: (u64, u64) = (10, 60_000);

/// Whose inventory it is.
pub(super) struct Subject<'a> {
    pub(super) id: &'a str,
    pub(super) data_directory: &'a Path,
    /// What is offered: search needs facets for its feature codes, facets need search for their filters.
    pub(super) skills: &'a [Skill],
    pub(super) scope: SearchScope,
    /// Whether it is known where vehicles stand.
    pub(super) placed: bool,
    /// Whether no rooftop is configured, so that the mapping's own count.
    pub(super) bare: bool,
}

/// Whether the place of a rooftop is known.
pub(super) fn is_placed(profile: &Profile) -> bool {
    profile.rooftops.iter().any(|rooftop| rooftop.geo.is_some())
}

/// `scope` is the deployment's.
pub(super) fn compile(
    scope: &mut Scope<'_>,
    subject: &Subject<'_>,
    raw: &raw::Inventory,
    search: &raw::Search,
) -> Option<Inventory> {
    let mapping = mapping(&mut scope.below("inventory"), raw);
    let source = source::compile(&mut scope.below("inventory"), raw, subject.data_directory);
    let mapping = mapping?;
    let subject = &Subject {
        placed: subject.placed || (subject.bare && mapping.places_rooftops()),
        ..*subject
    };
    let settings = settings(scope, subject, mapping.supplied_fields(), raw, search);
    Some(Inventory {
        settings: settings?,
        mapping: Arc::new(mapping),
        source: source?,
    })
}

/// One seller's part of an aggregate: `scope` is the seller's. How the whole is kept fresh is the
/// deployment's affair. A seller who names no mapping uses `shared`.
pub(super) fn part(
    scope: &mut Scope<'_>,
    dealer_id: &str,
    raw: &raw::Inventory,
    (shared, data_directory): (Option<&Path>, &Path),
) -> Option<Inventory> {
    let mut scope = scope.below("inventory");
    let common = [
        ("refresh_interval_s", raw.refresh_interval_s.is_some()),
        ("refresh_jitter", raw.refresh_jitter.is_some()),
        (
            "full_refresh_interval_s",
            raw.full_refresh_interval_s.is_some(),
        ),
        ("watch_interval_ms", raw.watch_interval_ms.is_some()),
        ("max_age_s", raw.max_age_s.is_some()),
        ("shrink_guard", raw.shrink_guard.is_some()),
        ("look_up_cache_ms", raw.look_up_cache_ms.is_some()),
    ];
    let remedy = "say it under [deployments.ID.inventory]";
    scope.idle(&common, "is said for one seller of an aggregate", remedy);
    let mapping = match (&raw.mapping, shared) {
        (None, Some(file)) => read(&mut scope, file),
        (Some(_), _) | (None, None) => mapping(&mut scope, raw),
    };
    scope.bounded(
        "look_up_timeout_ms",
        raw.look_up_timeout_ms,
        0,
        LOOK_UP_TIMEOUT_MS,
    );
    let source = source::compile(&mut scope, raw, data_directory);
    let mapping = mapping?;
    let nothing = SearchOptions::new(SearchScope::Aggregate, &[]);
    let capabilities = Capabilities::compile(&mapping.supplied_fields(), false, &nothing);
    Some(Inventory {
        settings: Settings::new(dealer_id, capabilities.ok()?),
        mapping: Arc::new(mapping),
        source: source?,
    })
}

/// How an inventory is searched and kept fresh.
pub(super) fn settings(
    scope: &mut Scope<'_>,
    subject: &Subject<'_>,
    supplied: BTreeSet<String>,
    raw: &raw::Inventory,
    search: &raw::Search,
) -> Option<Settings> {
    let capabilities = capabilities(&mut scope.below("search"), search, supplied, subject);
    let mut settings = Settings::new(subject.id, capabilities?);
    settings.facets_in_search = search.facets_in_search.unwrap_or(settings.facets_in_search);
    settings.directory = Some(subject.data_directory.join("inventory").join(subject.id));
    timing(scope, raw, search, &mut settings);
    Some(settings)
}

fn timing(
    scope: &mut Scope<'_>,
    raw: &raw::Inventory,
    search: &raw::Search,
    settings: &mut Settings,
) {
    let ttl = u64::try_from(settings.cursor_ttl_s).unwrap_or(900);
    let ttl = scope.bounded(
        "search.cursor_ttl_s",
        search.cursor_ttl_s,
        ttl,
        (60, 86_400),
    );
    settings.cursor_ttl_s = i64::try_from(ttl).unwrap_or(settings.cursor_ttl_s);
    let mut scope = scope.below("inventory");
    let interval_s = settings.refresh_interval_s;
    let interval_s = scope.bounded(
        "refresh_interval_s",
        raw.refresh_interval_s,
        interval_s,
        (1, 604_800),
    );
    settings.refresh_interval_s = interval_s;
    settings.refresh_jitter = scope.bounded(
        "refresh_jitter",
        raw.refresh_jitter,
        settings.refresh_jitter,
        (0.0, 0.5),
    );
    settings.full_refresh_interval_s = scope.bounded(
        "full_refresh_interval_s",
        raw.full_refresh_interval_s,
        settings.full_refresh_interval_s,
        (1, 2_592_000),
    );
    settings.watch_interval_ms = scope.bounded(
        "watch_interval_ms",
        raw.watch_interval_ms,
        settings.watch_interval_ms,
        (0, 3_600_000),
    );
    if let Some(seconds) = raw.max_age_s {
        let seconds = scope.bounded("max_age_s", Some(seconds), seconds, (0, 31_536_000));
        settings.max_age_s = i64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
    }
    settings.shrink_guard = scope.bounded(
        "shrink_guard",
        raw.shrink_guard,
        settings.shrink_guard,
        (0.0, 1.0),
    );
    settings.look_up_timeout_ms = scope.bounded(
        "look_up_timeout_ms",
        raw.look_up_timeout_ms,
        settings.look_up_timeout_ms,
        LOOK_UP_TIMEOUT_MS,
    );
    settings.look_up_cache_ms = scope.bounded(
        "look_up_cache_ms",
        raw.look_up_cache_ms,
        settings.look_up_cache_ms,
        (0, 600_000),
    );
}

/// The mapping that is named, and its file.
fn mapping(scope: &mut Scope<'_>, raw: &raw::Inventory) -> Option<Mapping> {
    let file = scope.need(
        "mapping",
        raw.mapping.as_ref(),
        "name the mapping file (docs/mapping.md)",
    )?;
    let file = scope.path("mapping", file);
    read(scope, &file)
}

/// The compiled mapping; the mapping's own findings keep their keys.
fn read(scope: &mut Scope<'_>, file: &Path) -> Option<Mapping> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            let reason = format!("{}: {error}", file.display());
            scope.fault(
                "mapping",
                reason,
                "name a readable mapping file (docs/mapping.md)",
            );
            return None;
        }
    };
    match Mapping::parse(&text) {
        Ok(mapping) => Some(mapping),
        Err(findings) => {
            for finding in findings {
                let reason = format!("{}: {}: {}", file.display(), finding.key, finding.reason);
                scope.fault("mapping", reason, finding.remedy);
            }
            None
        }
    }
}

/// What search supports: the mapping's fields decide, within what the writer allows.
fn capabilities(
    scope: &mut Scope<'_>,
    raw: &raw::Search,
    mut supplied: BTreeSet<String>,
    subject: &Subject<'_>,
) -> Option<Capabilities> {
    // Every listing has these: a status and a time must be mapped, and what has no type is a car.
    supplied.extend(["status", "updated_at", "vehicle_type"].map(str::to_owned));
    let max_limit = scope.bounded("max_limit", raw.max_limit, 100, (1, 100));
    let default_limit = scope.bounded(
        "default_limit",
        raw.default_limit,
        max_limit.min(20),
        (1, max_limit),
    );
    let mut options = SearchOptions {
        default_limit,
        max_limit,
        offset: raw.offset.unwrap_or(false),
        ..SearchOptions::new(subject.scope, subject.skills)
    };
    if let Some(text) = &raw.default_sort {
        match sort(text) {
            Some(sort) => options.default_sort = sort,
            None => scope.fault(
                "default_sort",
                "is not an order",
                "write FIELD asc or FIELD desc, e.g. price asc",
            ),
        }
    }
    match Capabilities::compile(&supplied, subject.placed, &options) {
        Ok(capabilities) => Some(capabilities),
        Err(faults) => {
            for fault in faults {
                scope.fault("", fault, "correct the search settings or the mapping");
            }
            None
        }
    }
}

/// `field order`.
fn sort(text: &str) -> Option<Sort> {
    let (field, order) = text.split_once(' ')?;
    let word = |word: &str| serde_json::Value::from(word.trim());
    Some(Sort {
        field: serde_json::from_value(word(field)).ok()?,
        order: serde_json::from_value(word(order)).ok()?,
    })
}
