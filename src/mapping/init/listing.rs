//! The members of a listing, each from the column that was chosen for it, with the steps that its values need. Must
//! not choose columns.

use super::column::{Column, Place};
use super::members::Members;
use super::write::{self, quoted};
use super::{steps, words};

/// `[fields]`, member by member.
pub(super) fn fields(members: &mut Members<'_>, key: Option<&str>) -> String {
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
    line("mileage", mileage(members));
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

/// Miles, with 0 kept on new vehicles only.
fn mileage(members: &Members<'_>) -> Option<String> {
    let column = members.get("mileage")?;
    let unit = members
        .get("mileage_unit")
        .and_then(|unit| match &unit.place {
            Place::Path(path) => Some(path.as_str()),
            Place::Inside { .. } | Place::Child { .. } => None,
        });
    let steps = steps::miles(column, unit, members.is_new().as_deref());
    Some(write::field(&column.place, &steps, false))
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
