//! `[defaults]`: what every deployment is given where it does not say otherwise itself. Must not know what
//! any key means.

use figment::value::{Dict, Value};

use super::{Tree, find_mut};

impl Tree {
    /// Takes the table `from` away and lays it below every table that stands under `onto`. Tables are joined
    /// key by key; a value or a list that a table has itself stays as it is.
    pub(in super::super) fn lay_below(&mut self, from: &str, onto: &str) {
        let Value::Dict(_, root) = &mut self.root else {
            return;
        };
        let Some(Value::Dict(_, below)) = root.remove(from) else {
            return;
        };
        for tree in [&mut self.root, &mut self.merged] {
            let Some(Value::Dict(_, tables)) = find_mut(tree, &[onto.to_owned()]) else {
                continue;
            };
            for table in tables.values_mut() {
                if let Value::Dict(_, table) = table {
                    lay(&below, table);
                }
            }
        }
    }
}

fn lay(below: &Dict, table: &mut Dict) {
    for (key, value) in below {
        match (table.get_mut(key), value) {
            (None, value) => {
                table.insert(key.clone(), value.clone());
            }
            (Some(Value::Dict(_, own)), Value::Dict(_, below)) => lay(below, own),
            (Some(_), _) => {}
        }
    }
}
