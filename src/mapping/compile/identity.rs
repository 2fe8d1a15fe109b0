//! Compiles the sections about what a vehicle is known by: several rows of one VIN, what is no VIN, and the key that
//! a look-up asks the source by. Must not compile fields.

use toml::Value;

use super::super::model::{BadVin, SameVin};
use super::Compiler;

impl Compiler {
    pub(super) fn same_vin(&mut self, written: Option<Value>) -> SameVin {
        let Some(mut table) = written.and_then(|value| self.table("duplicates", value)) else {
            return SameVin::Newest;
        };
        let rule = self.text(&mut table, "same_vin").unwrap_or_default();
        self.leftover("duplicates", &table, &["same_vin"]);
        match rule.as_str() {
            "newest" => SameVin::Newest,
            "keep" => SameVin::Keep,
            _ => {
                let remedy = "same_vin = \"newest\" (by updated_at) or \"keep\"";
                self.findings
                    .add("duplicates.same_vin", "no such rule", remedy);
                SameVin::Newest
            }
        }
    }

    pub(super) fn bad_vin(&mut self, written: Option<Value>) -> BadVin {
        let default = BadVin::Attribute("serial_number".to_owned());
        let Some(mut table) = written.and_then(|value| self.table("vin", value)) else {
            return default;
        };
        let rule = self.text(&mut table, "otherwise").unwrap_or_default();
        let attribute = self.text(&mut table, "attribute");
        self.leftover("vin", &table, &["otherwise", "attribute"]);
        match rule.as_str() {
            "other_attributes" => {
                BadVin::Attribute(attribute.unwrap_or_else(|| "serial_number".to_owned()))
            }
            "omit" => BadVin::Omit,
            "reject" => BadVin::Reject,
            _ => {
                let remedy = "otherwise = \"other_attributes\", \"omit\" or \"reject\"";
                self.findings.add("vin.otherwise", "no such rule", remedy);
                default
            }
        }
    }

    pub(super) fn look_up(&mut self, written: Option<Value>) -> Option<regex::Regex> {
        let mut table = self.table("look_up", written?)?;
        let pattern = self.text(&mut table, "vehicle_id").unwrap_or_default();
        self.leftover("look_up", &table, &["vehicle_id"]);
        match regex::Regex::new(&pattern) {
            Ok(regex) if regex.captures_len() == 2 => Some(regex),
            Ok(_) => {
                let remedy = "put the key into one pair of parentheses: \"^D4471:(\\\\d+)$\"";
                self.findings
                    .add("look_up.vehicle_id", "has not exactly one group", remedy);
                None
            }
            Err(error) => {
                let remedy = "write a pattern of the regex crate";
                self.findings
                    .add("look_up.vehicle_id", error.to_string(), remedy);
                None
            }
        }
    }
}
