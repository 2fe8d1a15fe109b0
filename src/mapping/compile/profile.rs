//! Compiles `[profile]`: rooftops out of the source's own tables. Must not compile steps.

use toml::{Table, Value};

use super::super::field::{CHARGE, DAYS, Kind};
use super::super::model::Field;
use super::super::plan::Plan;
use super::super::rooftop::{DefaultFees, Hours, Rooftops};
use super::Compiler;
use super::field::ITEM;

/// Members of the rooftop itself; `name` is first, because nothing is a rooftop without it.
const MEMBERS: &[(&str, Kind)] = &[
    ("name", Kind::Text),
    ("legal_name", Kind::Text),
    ("website", Kind::Url),
    ("timezone", Kind::Zone),
    ("notes", Kind::Text),
    ("capabilities", Kind::Texts),
];
const ADDRESS: &[&str] = &[
    "country",
    "state",
    "city",
    "address_line_1",
    "address_line_2",
    "zip",
];
const OTHERS: &[&str] = &[
    "source",
    "latitude",
    "longitude",
    "address",
    "phones",
    "emails",
    "hours",
    "fees",
];

impl Compiler {
    /// `vehicles` is how the vehicles are read: the rooftops stand at the same source.
    pub(super) fn profile(
        &mut self,
        written: Option<Value>,
        vehicles: Option<&Plan>,
    ) -> Option<Rooftops> {
        let mut table = self.table("profile", written?)?;
        let plan = self.profile_plan(table.remove("source"), vehicles);
        let mut members = Vec::new();
        for (name, kind) in MEMBERS {
            let at = format!("profile.{name}");
            match table.remove(*name) {
                Some(value) => members.extend(self.field(&at, name, *kind, value, ITEM)),
                None if *name == "name" => {
                    let remedy = "name the column that vehicles name the place by";
                    self.findings.add(at, "is missing", remedy);
                }
                None => {}
            }
        }
        let latitude = self.degrees(&mut table, "latitude", 90);
        let longitude = self.degrees(&mut table, "longitude", 180);
        let address = self.group(&mut table, "address", Some(ADDRESS));
        let phones = self.group(&mut table, "phones", None);
        let emails = self.group(&mut table, "emails", None);
        let hours = table.remove("hours").and_then(|value| self.hours(value));
        let fees = table
            .remove("fees")
            .and_then(|value| self.default_fees(value));
        let known: Vec<&str> = MEMBERS
            .iter()
            .map(|(name, _)| *name)
            .chain(OTHERS.iter().copied())
            .collect();
        self.leftover("profile", &table, &known);
        Some(Rooftops {
            plan: plan?,
            members,
            latitude,
            longitude,
            address,
            phones,
            emails,
            hours,
            fees,
        })
    }

    fn profile_plan(&mut self, written: Option<Value>, vehicles: Option<&Plan>) -> Option<Plan> {
        let at = "profile.source";
        let Some(value) = written else {
            let remedy = "write [profile.source] with kind, query and key, as in [source]";
            self.findings.add(at, "is missing", remedy);
            return None;
        };
        let plan: Plan = self.decode(at, value)?;
        let same = vehicles.is_none_or(|vehicles| {
            std::mem::discriminant(vehicles) == std::mem::discriminant(&plan)
        });
        if matches!(plan, Plan::Feed(_)) || !same {
            let remedy = "describe rooftops of a feed in the configuration";
            let reason = "must be of the same kind as [source], and no feed";
            self.findings.add(at, reason, remedy);
            return None;
        }
        Some(plan)
    }

    fn degrees(&mut self, table: &mut Table, name: &str, bound: i64) -> Option<Field> {
        let value = table.remove(name)?;
        let at = format!("profile.{name}");
        self.field(&at, name, Kind::Degrees(bound), value, ITEM)
    }

    /// A table of text fields: the address's parts, or contacts by their label.
    fn group(&mut self, table: &mut Table, name: &str, known: Option<&[&str]>) -> Vec<Field> {
        let at = format!("profile.{name}");
        let Some(parts) = table.remove(name).and_then(|value| self.table(&at, value)) else {
            return Vec::new();
        };
        if let Some(known) = known {
            let foreign: Table = parts
                .iter()
                .filter(|(key, _)| !known.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            self.leftover(&at, &foreign, known);
        }
        let mut fields = Vec::new();
        for (name, value) in parts {
            let at = format!("{at}.{name}");
            fields.extend(self.field(&at, &name, Kind::Text, value, ITEM));
        }
        fields
    }

    fn hours(&mut self, written: Value) -> Option<Hours> {
        let at = "profile.hours";
        let mut table = self.table(at, written)?;
        let children = self.needed_text(at, &mut table, "children");
        let closed = self.text(&mut table, "closed");
        let closed = closed.and_then(|text| self.expr("profile.hours.closed", &text, ITEM));
        let department = table.remove("department");
        let department = department.and_then(|value| {
            self.field("profile.hours.department", "hours", Kind::Text, value, ITEM)
        });
        let day = self.needed(at, &mut table, "day", Kind::Word(DAYS));
        let open = self.needed(at, &mut table, "open", Kind::Clock);
        let close = self.needed(at, &mut table, "close", Kind::Clock);
        let known = ["children", "department", "day", "open", "close", "closed"];
        self.leftover(at, &table, &known);
        Some(Hours {
            children: children?,
            department,
            day: day?,
            open: open?,
            close: close?,
            closed,
        })
    }

    fn default_fees(&mut self, written: Value) -> Option<DefaultFees> {
        let at = "profile.fees";
        let mut table = self.table(at, written)?;
        let children = self.needed_text(at, &mut table, "children");
        let when = self.text(&mut table, "when");
        let when = when.and_then(|text| self.expr("profile.fees.when", &text, ITEM));
        let name = self.needed(at, &mut table, "name", Kind::Label);
        let amount = self.needed(at, &mut table, "amount", CHARGE);
        self.leftover(at, &table, &["children", "when", "name", "amount"]);
        Some(DefaultFees {
            children: children?,
            when,
            name: name?,
            amount: amount?,
        })
    }

    fn needed(&mut self, at: &str, table: &mut Table, name: &str, kind: Kind) -> Option<Field> {
        let key = format!("{at}.{name}");
        if let Some(value) = table.remove(name) {
            return self.field(&key, name, kind, value, ITEM);
        }
        self.findings.add(key, "is missing", "name its column");
        None
    }

    fn needed_text(&mut self, at: &str, table: &mut Table, name: &str) -> Option<String> {
        let found = self.text(table, name);
        if found.is_none() {
            let remedy = "name a query under [profile.source.children]";
            self.findings
                .add(format!("{at}.{name}"), "is missing", remedy);
        }
        found
    }
}
