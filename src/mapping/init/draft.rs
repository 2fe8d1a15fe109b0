//! Puts a first mapping file together, questions first. Must not decide which column is which.

use super::codes::CodeList;
use super::column::{Column, Columns, Place};
use super::members::Members;
use super::words::YES;
use super::write::{self, quoted};
use super::{Draft, alias, equipment, steps, words};

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
    let fields = fields(&mut members, key);
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
            add(format!("{at} is none"), "deleted");
        } else {
            let yes: Vec<String> = YES.iter().map(|word| (*word).to_owned()).collect();
            add(
                format!("text({at}) | lower not in {}", write::words(&yes)),
                "deleted",
            );
        }
    }
    if let Some((_, at)) = known("sold_on") {
        add(
            format!("text({at}) in ['', '00000000', '0000-00-00']"),
            "sold",
        );
    }
    if let Some((column, at)) = known("marketable") {
        if column.typed {
            add(at, "not marketable");
        } else {
            let yes: Vec<String> = YES.iter().map(|word| (*word).to_owned()).collect();
            add(
                format!("text({at}) | lower in {}", write::words(&yes)),
                "not published",
            );
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

/// `[fields]`, member by member.
fn fields(members: &mut Members<'_>, key: Option<&str>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, field: Option<String>| {
        if let Some(field) = field {
            text.extend([format!("{name} = {field}\n")]);
        }
    };
    line("vehicle_id", vehicle_id(members, key));
    line("stock", plain(members, "stock", &[]));
    line("vin", plain(members, "vin", &["\"trim\"", "\"upper\""]));
    let status = members
        .vocabulary("status", words::status, "hide")
        .or_else(|| transit(members));
    line(
        "status",
        status.or_else(|| {
            Some(
                "{ value = \"available\" } # nothing here says more: what is listed is offered"
                    .to_owned(),
            )
        }),
    );
    line("vehicle_type", members.vehicle_type());
    line("condition", members.condition());
    line("year", with(members, "year", steps::year));
    line("make", members.text("make", words::make));
    line("model", members.text("model", |_| None));
    line("trim", trim(members));
    line("body", members.text("body", |_| None));
    line("exterior_color", plain(members, "exterior_color", &[]));
    line("interior_color", plain(members, "interior_color", &[]));
    line("mileage", members.mileage());
    line("fuel", members.fuel());
    line("engine", plain(members, "engine", &[]));
    line(
        "displacement_cc",
        with(members, "displacement_cc", steps::displacement),
    );
    line("transmission", members.text("transmission", |_| None));
    line("driveline", members.text("driveline", |_| None));
    line(
        "city_mpg",
        with(members, "city_mpg", |column| steps::count(column, true)),
    );
    line(
        "highway_mpg",
        with(members, "highway_mpg", |column| steps::count(column, true)),
    );
    for (name, field) in electric(members) {
        line(name, field);
    }
    line("msrp", with(members, "msrp", steps::money));
    line("list_price", with(members, "list_price", steps::money));
    line("rooftop", members.text("rooftop", |_| None));
    let date = members
        .get("inventory_date")
        .and_then(|column| Some(write::field(&column.place, &steps::date(column)?, false)));
    line("inventory_date", date);
    line("photos", photos(members));
    line("vdp_url", plain(members, "vdp_url", &["\"urls\""]));
    line("description", with(members, "description", steps::prose));
    text
}

/// The members of electric vehicles.
fn electric(members: &Members<'_>) -> [(&'static str, Option<String>); 5] {
    let number = |member| with(members, member, |column| steps::count(column, true));
    let kilowatts = "{ measure = { to = \"hp\", unit = \"kw\" } }";
    let fast = with(members, "dc_fast_charge", |column| {
        if column.typed && column.all(|value| value == "true" || value == "false") {
            Vec::new()
        } else {
            vec!["\"boolean\"".to_owned()]
        }
    });
    [
        ("electric_range_mi", number("electric_range_mi")),
        ("battery_kwh", number("battery_kwh")),
        (
            "motor_power_hp",
            plain(members, "motor_power_kw", &[kilowatts]),
        ),
        ("charge_port", plain(members, "charge_port", &[])),
        ("dc_fast_charge", fast),
    ]
}

fn plain(members: &Members<'_>, member: &str, steps: &[&str]) -> Option<String> {
    let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
    Some(write::field(&members.get(member)?.place, &steps, false))
}

fn with(
    members: &Members<'_>,
    member: &str,
    steps: impl Fn(&Column) -> Vec<String>,
) -> Option<String> {
    let column = members.get(member)?;
    Some(write::field(&column.place, &steps(column), false))
}

fn trim(members: &Members<'_>) -> Option<String> {
    let column = members.get("trim")?;
    match (
        &column.place,
        members.get("trim_too").map(|other| &other.place),
    ) {
        (Place::Path(one), Some(Place::Path(other))) => Some(format!(
            "{{ from = [{}, {}], steps = [\"trim\"] }}",
            quoted(one),
            quoted(other)
        )),
        _ => Some(write::field(&column.place, &[], false)),
    }
}

/// A source without a status that says what is still on its way.
fn transit(members: &Members<'_>) -> Option<String> {
    let flag = members.get("in_transit").filter(|flag| flag.typed)?;
    let expr = format!("'intransit' if {} else 'available'", flag.in_expression()?);
    Some(format!("{{ expr = {} }}", quoted(&expr)))
}

/// Always the same for one vehicle, and never the same for two.
fn vehicle_id(members: &Members<'_>, key: Option<&str>) -> Option<String> {
    let at = |name: &str| {
        let own = |column: &&Column| column.place == Place::Path(name.to_owned());
        members.columns.list.iter().find(own)
    };
    let unique = |column: &Column| {
        column.values.len() == column.filled && column.filled == members.columns.rows
    };
    let id = key.and_then(at).or_else(|| at("id"));
    if let Some(at) = id.filter(|id| unique(id)).and_then(Column::in_expression) {
        return Some(format!(
            "{{ template = {} }}",
            quoted(&format!("{{{{ {at} }}}}"))
        ));
    }
    let stock = members.get("stock").or(id)?;
    let own = id.filter(|id| id.place != stock.place);
    let (base, fold) = match own {
        Some(id) => (id.in_expression()?, ""),
        None => (stock.in_expression()?, " | upper"),
    };
    if unique(stock) {
        return Some(format!(
            "{{ template = {} }}",
            quoted(&format!("{{{{ {base} }}}}"))
        ));
    }
    let vin = members.expression("vin")?;
    let expr = format!("text({base}){fold} ~ ('.' ~ text({vin}) | upper if text({vin}) else '')");
    Some(format!("{{ expr = {} }}", quoted(&expr)))
}

fn photos(members: &mut Members<'_>) -> Option<String> {
    let column = members.get("photos")?;
    let tail = ["\"dedupe\"".to_owned(), "{ limit = 40 }".to_owned()];
    let relative = |value: &str| {
        value
            .split(['|', ';', ',', '"', '[', ' '])
            .any(|part| part.starts_with('/') && !part.starts_with("//"))
    };
    let urls = if column.any(relative) {
        members
            .questions
            .push("fields.photos: which address do relative photo addresses stand on?".to_owned());
        "{ urls = \"?\" }".to_owned()
    } else {
        "\"urls\"".to_owned()
    };
    if let (Some(one), Some(more)) = (column.in_expression(), members.expression("photos_too")) {
        let expr = format!("(text({one}) ~ ',' ~ text({more})) | split(',') | list");
        let steps = [&[urls][..], &tail].concat();
        return Some(format!(
            "{{ expr = {}, steps = [{}] }}",
            quoted(&expr),
            steps.join(", ")
        ));
    }
    let mut all = if matches!(column.place, Place::Child { .. }) {
        Vec::new()
    } else {
        steps::split(column, &["|", ";", ","])
    };
    all.push(urls);
    all.extend(tail);
    Some(write::field(&column.place, &all, true))
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
