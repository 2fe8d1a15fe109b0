//! Puts a first mapping file together, questions first. Must not decide which column is which.

use super::codes::CodeList;
use super::column::{Column, Columns, Place};
use super::members::Members;
use super::words::{NEVER, NO, YES};
use super::write::{self, quoted};
use super::{Draft, alias, equipment, listing, steps};

pub(super) fn draft(
    columns: &Columns,
    lists: &[CodeList],
    name: &str,
    source: &str,
    key: Option<&str>,
) -> Draft {
    let mut members = Members::choose(columns, lists);
    let price = price(&mut members);
    let updated_at = updated_at(&mut members);
    let filters = filters(&members);
    let fields = listing::fields(&mut members, key);
    let features = equipment::features(&members);
    let mut text = format!(
        "# A first mapping, made from {} rows. Each line is a suggestion; a `?` is a question that only the dealer can\n\
         # answer, and the file does not load before. Then: forecourt mappings check, forecourt mappings explain.\n\
         name = {}\n\n# ---- Questions ----\n{price}{updated_at}",
        columns.rows,
        quoted(name)
    );
    text.push_str(&filters);
    text.push_str("# Of two rows with one VIN the one that changed last stands; \"keep\" shows both.\nduplicates = { same_vin = \"newest\" }\n");
    if let Some(key) = key {
        let pattern = format!("^{}$", "(.+)");
        text.extend([format!(
            "# The source's own key ({key}) within vehicle_id, so that one vehicle can be read again before a lead.\n\
             look_up = {{ vehicle_id = {} }}\n",
            quoted(&pattern)
        )]);
    }
    text.push_str("\n# ---- How to read; address and password stand in the configuration ----\n");
    text.push_str(source);
    text.push_str("\n# ---- Members of a listing: \"COLUMN\", or { from = \"COLUMN\", steps = […] } ----\n[fields]\n");
    text.push_str(&fields);
    text.push_str(&features);
    if !members.tables.is_empty() {
        text.push_str(
            "\n# ---- Code tables: code = value, or code = { hide = \"reason\" } ----\n[tables]\n",
        );
        for (name, entries) in &members.tables {
            text.push_str(&write::table(name, entries));
            text.push('\n');
        }
    }
    text.push_str(&left_over(&members));
    Draft {
        text,
        questions: members.questions,
    }
}

fn price(members: &mut Members<'_>) -> String {
    let Some(column) = members
        .get("advertised")
        .or_else(|| members.get("list_price"))
    else {
        return "# No column looks like a price with every mandatory charge inside: no `price` is published.\n".to_owned();
    };
    members.questions.push(
        "price.basis: does the dealer vouch that every mandatory charge is inside this amount, and that no \
         rebate was taken off that not every buyer gets?"
            .to_owned(),
    );
    let field = write::field(&column.place, &steps::money(column), false);
    let inner = field.trim_start_matches("{ ").trim_end_matches(" }");
    format!(
        "# Does the dealer vouch that this amount has every mandatory charge inside, and no rebate taken off that not\n\
         # every buyer gets? Then basis = \"all_mandatory_included\". If not, or if nobody knows, delete the line.\n\
         price = {{ basis = \"?\", {inner} }}\n"
    )
}

fn updated_at(members: &mut Members<'_>) -> String {
    let found = members
        .get("updated_at")
        .and_then(|column| Some((column, steps::instant(column)?)));
    let Some((column, (step, zone_is_open))) = found else {
        members.questions.push(
            "updated_at.provenance: nothing here says when a vehicle changed; is the file's own time its last true moment?"
                .to_owned(),
        );
        return "# When was a vehicle last known to be so? No column says it. \"as_of\" takes the file's own time, if the whole\n\
                # file is written anew each time. Or name a column: \"source_column\" with from and steps.\n\
                updated_at = { provenance = \"?\" }\n"
            .to_owned();
    };
    if zone_is_open {
        members
            .questions
            .push("updated_at.zone: which time zone is this column written in?".to_owned());
    }
    let field = write::field(&column.place, &[step], false);
    let inner = field.trim_start_matches("{ ").trim_end_matches(" }");
    format!(
        "# When a vehicle changed. A time without offset needs its zone, e.g. \"America/Chicago\".\n\
         updated_at = {{ provenance = \"source_column\", {inner} }}\n"
    )
}

/// Rows that are not shown, as far as columns say so.
fn filters(members: &Members<'_>) -> String {
    let mut lines = Vec::new();
    let mut add = |keep: String, reason: &str| {
        lines.push(format!(
            "  {{ keep = {}, reason = {} }},\n",
            quoted(&keep),
            quoted(reason)
        ));
    };
    let known = |member: &str| Some((members.get(member)?, members.expression(member)?));
    if let Some((column, at)) = known("deleted") {
        if column.typed && column.all(|value| value == "true" || value == "false") {
            add(format!("not {at}"), "deleted");
        } else if column.any(|value| value.len() > 5) {
            add(format!("text({at}) in {}", write::words(NEVER)), "deleted");
        } else {
            // Whatever else the source writes there, it says that the row is deleted.
            let keep = format!("text({at}) | lower in {}", write::words(NO));
            add(keep, "deleted");
        }
    }
    if let Some((_, at)) = known("sold_on") {
        add(format!("text({at}) in {}", write::words(NEVER)), "sold");
    }
    if let Some((column, at)) = known("marketable") {
        if column.typed {
            add(at, "not marketable");
        } else {
            let keep = format!("text({at}) | lower in {}", write::words(YES));
            add(keep, "not published");
        }
    }
    if let Some((_, at)) =
        known("disposition").filter(|(column, _)| column.any(|value| value == "R"))
    {
        add(format!("text({at}) == 'R'"), "not for retail");
    }
    format!(
        "# Rows that are not shown: sold, deleted, wholesale, loaners. A row that a condition cannot judge is not shown.\nfilter = [\n{}]\n",
        lines.concat()
    )
}

fn left_over(members: &Members<'_>) -> String {
    let name = |column: &&Column| match &column.place {
        Place::Path(path) => path.clone(),
        Place::Inside { column, pick } => format!("{column} > {pick}"),
        Place::Child { rows, column } => format!("{rows} > {column}"),
    };
    let known = |member: &str| members.get(member).is_some();
    let mut text = String::new();
    let missing: Vec<&str> = alias::ALIASES
        .iter()
        .map(|(member, _)| *member)
        .filter(|member| {
            [
                "stock",
                "vin",
                "year",
                "make",
                "model",
                "mileage",
                "list_price",
                "rooftop",
                "photos",
            ]
            .contains(member)
        })
        .filter(|member| !known(member))
        .collect();
    if !missing.is_empty() {
        text.extend([format!(
            "\n# No column was found for: {}.\n",
            missing.join(", ")
        )]);
    }
    let left: Vec<String> = members.left().iter().map(name).collect();
    if !left.is_empty() {
        text.push_str("\n# Columns of which nothing was made; what AAP has no member for can go under [other_attributes]:\n");
        for piece in left.chunks(8) {
            text.extend([format!("#   {}\n", piece.join(", "))]);
        }
    }
    text
}
