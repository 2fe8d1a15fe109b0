//! The reference part of `docs/mapping.md`: every step and every need of a dealer's feed with an example that is run
//! here, and the words that a wrong one gets. The document is made from it, so it cannot fall behind.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::super::{Mapping, Outcome, Row, Tables, shorthand};
use super::presets::root;

/// A step on a cell: as written, cell and result as JSON, and a cell that it refuses with the words.
struct Example(
    &'static str,
    &'static str,
    &'static str,
    Option<(&'static str, &'static str)>,
);

const STEPS: &[Example] = &[
    Example(r#""trim""#, r#""HONDA   ""#, r#""HONDA""#, None),
    Example(r#""collapse""#, r#""F  -  150""#, r#""F - 150""#, None),
    Example(r#""upper""#, r#""1gnskbkd""#, r#""1GNSKBKD""#, None),
    Example(r#""lower""#, r#""SUV""#, r#""suv""#, None),
    Example(
        r#""title""#,
        r#""GRAND CHEROKEE""#,
        r#""Grand Cherokee""#,
        None,
    ),
    Example(
        r#""sentence""#,
        r#""DOCUMENTATION FEE""#,
        r#""Documentation fee""#,
        None,
    ),
    Example(
        r#""strip_html""#,
        r#""<p>Clean &amp; dry</p>""#,
        r#""Clean & dry""#,
        None,
    ),
    Example(r#""fix_encoding""#, r#""cafÃ©""#, r#""café""#, None),
    Example(r#"{ sentinel = [0, "N/A"] }"#, r#""n/a""#, "null", None),
    Example(
        r#"{ sentinel = { values = [0], unless = "row.NU == 'N'" } }"#,
        "0",
        "null",
        None,
    ),
    Example(r#"{ default = "car" }"#, "null", r#""car""#, None),
    Example(
        r#"{ table = "codes" }"#,
        r#""10  ""#,
        r#""ten""#,
        Some((r#""77""#, "is not in the code table")),
    ),
    Example(
        r#"{ table = { of = "codes", miss = "pass" } }"#,
        r#""77""#,
        r#""77""#,
        Some((r#""90""#, "hidden: sold")),
    ),
    Example(
        r#""number""#,
        r#""$34,750.00""#,
        "34750",
        Some((r#""34.750,00""#, "is not a number written as 1,234.56")),
    ),
    Example(
        r#"{ number = "1.234,56" }"#,
        r#""27.949,00""#,
        "27949",
        None,
    ),
    Example(
        "{ number = { implied_decimals = 2 } }",
        r#""003475000""#,
        "34750",
        None,
    ),
    Example(
        r#""whole_dollars""#,
        "20294.0",
        "20294",
        Some(("20294.5", "has cents, and AAP amounts are whole dollars")),
    ),
    Example(r#"{ whole_dollars = "round" }"#, "20294.5", "20295", None),
    Example(
        r#""round""#,
        "36.6",
        "37",
        Some((r#""many""#, "is not a number")),
    ),
    Example(
        r#"{ measure = { to = "mi", unit = "km" } }"#,
        r#""59739""#,
        "37120",
        Some((r#""12 furlongs""#, "has a unit that is not known")),
    ),
    Example(
        r#"{ measure = { to = "mi", unit_from = "unit" } }"#,
        "48079",
        "29875",
        None,
    ),
    Example(
        r#""century""#,
        "21",
        "2021",
        Some((r#""XX""#, "is not a number")),
    ),
    Example(
        r#"{ date = ["%m/%d/%Y", "%Y-%m-%d"] }"#,
        r#""9/2/2026""#,
        r#""2026-09-02""#,
        Some((r#""13/45/2026""#, "is no date of the given format")),
    ),
    Example(
        r#"{ time = "%I:%M %p" }"#,
        r#""9:05 AM""#,
        r#""09:05""#,
        Some((r#""noon""#, "is no time of the given format")),
    ),
    Example(
        r#"{ datetime = { format = "%Y-%m-%d %H:%M:%S", zone = "America/Los_Angeles" } }"#,
        r#""2026-11-20 04:00:00""#,
        r#""2026-11-20T12:00:00Z""#,
        Some((
            r#""2026-11-01 01:30:00""#,
            "lies in the hour that the clocks repeat",
        )),
    ),
    Example(
        r#"{ datetime = "epoch_ms" }"#,
        "1795273200000",
        r#""2026-11-21T15:00:00Z""#,
        Some((r#""yesterday""#, "is no time of the given format")),
    ),
    Example(
        r#""boolean""#,
        r#""Y""#,
        "true",
        Some((r#""?""#, "is neither a word for yes nor for no")),
    ),
    Example(
        r#"{ boolean = { unknown = ["?"] } }"#,
        r#""?""#,
        "null",
        None,
    ),
    Example(
        r#"{ extract = "([2-5])dr" }"#,
        r#""4dr SUV""#,
        r#""4""#,
        None,
    ),
    Example(
        r#"{ replace = { pattern = "^VW$", with = "Volkswagen" } }"#,
        r#""VW""#,
        r#""Volkswagen""#,
        None,
    ),
    Example(
        r#"{ split = ["|", ","] }"#,
        r#""a|b||c""#,
        r#"["a","b","c"]"#,
        Some(("7", "is not text that can be split")),
    ),
    Example(r#""first""#, r#"["2020"]"#, r#""2020""#, None),
    Example(r#""dedupe""#, r#"["a","b","a"]"#, r#"["a","b"]"#, None),
    Example("{ limit = 2 }", r#"["a","b","c"]"#, r#"["a","b"]"#, None),
    Example(
        r#"{ urls = "https://www.dealer.example" }"#,
        r#"["/1.jpg","javascript:x"]"#,
        r#"["https://www.dealer.example/1.jpg"]"#,
        None,
    ),
    Example(
        r#""json""#,
        r#""[1,2]""#,
        "[1,2]",
        Some((r#""{not json""#, "is not JSON")),
    ),
    Example(r#"{ pick = "a.b" }"#, r#"{"a":{"b":"x"}}"#, r#""x""#, None),
    Example(
        r#"{ expr = "value * 2" }"#,
        "21",
        "42",
        Some((r#"{"a":1}"#, "cannot be computed")),
    ),
    Example(
        r#"{ template = "D1-{{ value }}" }"#,
        r#""U1""#,
        r#""D1-U1""#,
        None,
    ),
];

/// What is wrong, and the words for it.
enum Wrong {
    /// A row, and what is said of it: a warning, the reason why it is hidden, or why it is left out.
    Row(&'static str, &'static str),
    /// A file that does not load.
    File(&'static str, &'static str),
}

/// One need of dealers' feeds.
struct Need {
    what: &'static str,
    written: &'static str,
    row: &'static str,
    becomes: &'static str,
    wrong: Wrong,
}

const NEEDS: &[Need] = &[
    Need {
        what: "Pick by name, position, path, or \"the element where type = X\" (a file without header names its columns under `source.columns`)",
        written: "[fields]\nexterior_color = \"color.exterior.name\"\nlist_price = { from = \"prices[type=RETAIL].value\", steps = [\"whole_dollars\"] }\nphotos = { from = \"image[0].url\" }",
        row: r#"{"color":{"exterior":{"name":"Black"}},"prices":[{"type":"MSRP","value":1},{"type":"RETAIL","value":23995.0}],"image[0].url":"https://i.example/1.jpg"}"#,
        becomes: r#"{"exterior_color":"Black","list_price":23995,"photos":["https://i.example/1.jpg"]}"#,
        wrong: Wrong::File("[fields]\nmake = \"prices[type\"", "has an open bracket"),
    },
    Need {
        what: "First of an array",
        written: "[fields]\nyear = { from = \"Year\", steps = [\"first\", \"number\"] }",
        row: r#"{"Year":["2020"]}"#,
        becomes: r#"{"year":2020}"#,
        wrong: Wrong::Row(
            r#"{"Year":["last"]}"#,
            "is not a number written as 1,234.56",
        ),
    },
    Need {
        what: "Constant and default",
        written: "[fields]\nvehicle_type = { value = \"motorcycle\", when = \"row.LOC == 'CYCLE'\", steps = [] }\nfuel = { from = \"FUEL\", steps = [{ default = \"gasoline\" }] }",
        row: r#"{"LOC":"CYCLE"}"#,
        becomes: r#"{"vehicle_type":"motorcycle","fuel":"gasoline"}"#,
        wrong: Wrong::File(
            "[fields]\nvehicle_type = { value = \"bike\" }",
            "is none of car, motorcycle",
        ),
    },
    Need {
        what: "Code table with a policy for what it lacks: `warn` (left out), `omit`, `pass`, `hide`",
        written: "[fields]\nstatus = { from = \"STATCD\", steps = [{ table = { of = \"status\", miss = \"hide\" } }] }\n[tables]\nstatus = { 20 = \"intransit\", 90 = { hide = \"sold\" } }",
        row: r#"{"STATCD":"20 "}"#,
        becomes: r#"{"status":"intransit"}"#,
        wrong: Wrong::Row(r#"{"STATCD":"77"}"#, "a code that the table lacks"),
    },
    Need {
        what: "The first of several columns that comes to a value",
        written: "[fields]\ntrim = { from = [\"Trim\", \"Series\"], steps = [\"trim\"] }",
        row: r#"{"Trim":" ","Series":"XLT"}"#,
        becomes: r#"{"trim":"XLT"}"#,
        wrong: Wrong::File(
            "[fields]\ntrim = { from = \"Trim\", value = \"XLT\" }",
            "a value has exactly one origin",
        ),
    },
    Need {
        what: "Blanks, case, HTML, entities, text that went through a wrong code page (a file's own code page: `source.encoding`)",
        written: "[fields]\nmake = \"MAKE\"\ndescription = { from = \"CMNT\", steps = [\"fix_encoding\", \"strip_html\"] }",
        row: r#"{"MAKE":"Honda      ","CMNT":"<p>cafÃ© &amp; bar</p>"}"#,
        becomes: r#"{"make":"Honda","description":"café & bar"}"#,
        wrong: Wrong::File(
            "[fields]\nmake = { from = \"MAKE\", steps = [\"trimm\"] }",
            "unknown variant `trimm`",
        ),
    },
    Need {
        what: "Values that stand for \"not entered\"",
        written: "[fields]\nmileage = { from = \"MILES\", steps = [{ sentinel = [\"N/A\", 999999] }, { sentinel = { values = [0], unless = \"row.NU == 'N'\" } }] }",
        row: r#"{"MILES":999999,"NU":"U"}"#,
        becomes: r#"{"mileage":null}"#,
        wrong: Wrong::File(
            "[fields]\nmileage = { from = \"MILES\", steps = [{ sentinel = [] }] }",
            "no sentinel is given",
        ),
    },
    Need {
        what: "Numbers as they are written: grouped, with currency, with unwritten decimals, with a unit",
        written: "[fields]\nmsrp = { from = \"A\", steps = [\"number\", \"whole_dollars\"] }\nlist_price = { from = \"B\", steps = [{ number = { implied_decimals = 2 } }, \"whole_dollars\"] }\ndisplacement_cc = { from = \"C\", steps = [{ measure = { to = \"cc\", unit = \"l\" } }] }",
        row: r#"{"A":"27,949.00 USD","B":"003475000","C":"1.868L"}"#,
        becomes: r#"{"msrp":27949,"list_price":34750,"displacement_cc":1868}"#,
        wrong: Wrong::Row(
            r#"{"A":"27.949,00"}"#,
            "is not a number written as 1,234.56",
        ),
    },
    Need {
        what: "Whole dollars, with a policy for cents",
        written: "[fields]\nlist_price = { from = \"P\", steps = [\"number\", \"whole_dollars\"] }",
        row: r#"{"P":"20294.00"}"#,
        becomes: r#"{"list_price":20294}"#,
        wrong: Wrong::Row(
            r#"{"P":"20294.50"}"#,
            "has cents, and AAP amounts are whole dollars",
        ),
    },
    Need {
        what: "Units by suffix or by another column",
        written: "[fields]\nmileage = { from = \"ODO\", steps = [{ measure = { to = \"mi\", unit_from = \"UNIT\" } }] }",
        row: r#"{"ODO":59739,"UNIT":"KM"}"#,
        becomes: r#"{"mileage":37120}"#,
        wrong: Wrong::Row(
            r#"{"ODO":59739,"UNIT":"leagues"}"#,
            "has a unit that is not known",
        ),
    },
    Need {
        what: "Dates and times with format, epoch, zone (one, a column's, or the rooftop's by its code), and the hour that the clocks repeat",
        written: "[fields]\ninventory_date = { from = \"IN\", steps = [{ date = \"%Y%m%d\" }] }\n[updated_at]\nprovenance = \"source_column\"\nfrom = \"CHG\"\nsteps = [{ datetime = { format = \"%m/%d/%Y %I:%M:%S %p\", zone_from = \"LOC\", zones = \"zones\", ambiguous = \"earlier\" } }]\n[tables]\nzones = { MAIN = \"America/Los_Angeles\", EAST = \"America/New_York\" }",
        row: r#"{"IN":"20260902","CHG":"11/1/2026 1:30:00 AM","LOC":"MAIN"}"#,
        becomes: r#"{"inventory_date":"2026-09-02","updated_at":"2026-11-01T08:30:00Z"}"#,
        wrong: Wrong::Row(
            r#"{"IN":"20261345","CHG":"11/2/2026 1:30:00 AM","LOC":"MAIN"}"#,
            "is no date of the given format",
        ),
    },
    Need {
        what: "Words for yes, no and not known",
        written: "[fields]\ndc_fast_charge = { from = \"DCFC\", steps = [{ boolean = { unknown = [\"?\"] } }] }",
        row: r#"{"DCFC":"T"}"#,
        becomes: r#"{"dc_fast_charge":true}"#,
        wrong: Wrong::Row(
            r#"{"DCFC":"perhaps"}"#,
            "is neither a word for yes nor for no",
        ),
    },
    Need {
        what: "Conditions",
        written: "[fields]\ncondition = { expr = \"'cpo' if row.CERT == 'Y' and row.NU == 'U' else ('new' if row.NU == 'N' else 'used')\" }",
        row: r#"{"CERT":"Y","NU":"U"}"#,
        becomes: r#"{"condition":"cpo"}"#,
        wrong: Wrong::Row(r#"{"CERT":"N"}"#, "reads something the row does not have"),
    },
    Need {
        what: "Regular expressions",
        written: "[fields]\nengine = { from = \"E\", steps = [{ extract = \"^([0-9.]+)L\" }] }\n[other_attributes]\ndoors = { from = \"BODY\", steps = [{ extract = \"([2-5])dr\" }] }",
        row: r#"{"E":"2.5L 4-cyl","BODY":"4dr SUV"}"#,
        becomes: r#"{"engine":"2.5","other_attributes":{"doors":"4"}}"#,
        wrong: Wrong::File(
            "[fields]\nengine = { from = \"E\", steps = [{ extract = \"(\" }] }",
            "regex parse error",
        ),
    },
    Need {
        what: "Texts put together; half an address is none",
        written: "[fields]\nvdp_url = { template = \"https://www.dealer.example/vdp/{{ row.STK }}\" }",
        row: r#"{"STK":"U1 "}"#,
        becomes: r#"{"vdp_url":"https://www.dealer.example/vdp/U1"}"#,
        wrong: Wrong::File(
            "[fields]\nvdp_url = { template = \"https://x.example/{{ rows.STK }}\" }",
            "`rows` is not known here",
        ),
    },
    Need {
        what: "Lists by several separators, without doubles and foreign schemes, relative addresses on a base",
        written: "[fields]\nphotos = { from = \"P\", steps = [{ split = [\"|\", \";\", \",\"] }, { urls = \"https://www.dealer.example\" }, \"dedupe\", { limit = 40 }] }",
        row: r#"{"P":"/1.jpg|javascript:x|/1.jpg|https://i.example/2.jpg"}"#,
        becomes: r#"{"photos":["https://www.dealer.example/1.jpg","https://i.example/2.jpg"]}"#,
        wrong: Wrong::File(
            "[fields]\nphotos = { from = \"P\", steps = [{ urls = \"www.dealer.example\" }] }",
            "is no http(s) address to stand on",
        ),
    },
    Need {
        what: "Parallel lists put side by side",
        written: "[fields]\nlist_price = \"P\"\n[fees]\nzip = [\"FeeDesc\", \"FeeAmt\"]\ncode = \"FeeDesc\"\nname = \"FeeDesc\"\namount = { from = \"FeeAmt\", steps = [\"number\", \"whole_dollars\"] }",
        row: r#"{"P":9000,"FeeDesc":["Documentation fee"],"FeeAmt":["499.00"]}"#,
        becomes: r#"{"fees":[{"name":"Documentation fee","amount":499}]}"#,
        wrong: Wrong::Row(
            r#"{"P":9000,"FeeDesc":["Documentation fee","Paint"],"FeeAmt":["499.00"]}"#,
            "left out as incomplete: a charge without an amount",
        ),
    },
    Need {
        what: "Child rows: of a child query (`[source.children]`), or a list of objects within the row",
        written: "[fields]\nphotos = { children = \"media\", column = \"url\", steps = [\"urls\"] }",
        row: r#"{"media":[{"url":"https://i.example/1.jpg"},{"url":"https://i.example/2.jpg"}]}"#,
        becomes: r#"{"photos":["https://i.example/1.jpg","https://i.example/2.jpg"]}"#,
        wrong: Wrong::File(
            "[fields]\nphotos = { children = \"media\" }",
            "`children` needs a `column`",
        ),
    },
    Need {
        what: "Fees: mandatory ones of the dealer, the vehicle's own over the rooftop's (`defaults`), government's out, zero removes, names once",
        written: "[fields]\nlist_price = \"P\"\n[fees]\noverrides = \"fees\"\ncode = \"C\"\nname = \"N\"\namount = \"A\"\nmandatory = \"item.M == 'Y'\"\ngovernment = \"item.G == 'Y'\"",
        row: r#"{"P":9000,"fees":[{"C":"DOC","N":"Documentation fee","A":499,"M":"Y","G":"N"},{"C":"TINT","N":"Tint","A":399,"M":"N","G":"N"},{"C":"REG","N":"Registration","A":312,"M":"Y","G":"Y"}]}"#,
        becomes: r#"{"fees":[{"name":"Documentation fee","amount":499}]}"#,
        wrong: Wrong::Row(
            r#"{"P":9000,"fees":[{"C":"DOC","N":"Fee","A":499,"M":"Y","G":"N"},{"C":"PREP","N":"Fee","A":199,"M":"Y","G":"N"}]}"#,
            "two charges of one name",
        ),
    },
    Need {
        what: "A price whose basis somebody vouches for; any other amount is a list price",
        written: "[fields]\nlist_price = \"L\"\n[price]\nbasis = \"all_mandatory_included\"\nfrom = \"ADV\"\nomit_when = \"value < out.list_price\"",
        row: r#"{"L":23995,"ADV":24494}"#,
        becomes: r#"{"list_price":23995,"price":24494}"#,
        wrong: Wrong::File("[price]\nfrom = \"ADV\"", "no basis is stated"),
    },
    Need {
        what: "Features as evidence with source and excerpt: present, absent, unknown; a decoder's defaults out",
        written: "[features]\nchildren = \"options\"\ntext = \"D\"\nskip = \"item.S == 'V'\"\nsource = { value = \"inventory\" }\nstatus = { from = \"X\", steps = [{ default = \"present\" }] }\nunmatched = \"drop\"\n[[features.dictionary]]\ncode = \"heated_front_seats\"\nlabel = \"Heated Front Seats\"",
        row: r#"{"options":[{"D":"HEATED FRONT SEATS","S":"F"},{"D":"Heated front seats","S":"V","X":"absent"}]}"#,
        becomes: r#"{"features":["Heated Front Seats"],"feature_evidence":[{"code":"heated_front_seats","label":"Heated Front Seats","status":"present","source":"inventory","text":"HEATED FRONT SEATS"}]}"#,
        wrong: Wrong::File(
            "[features]\nlist = \"F\"\nsource = { value = \"inventory\" }\n[[features.dictionary]]\ncode = \"Heated-Seats\"\nlabel = \"Heated Seats\"",
            "is not snake_case",
        ),
    },
    Need {
        what: "Rows that are not shown: by the row, or by what it became (`out`)",
        written: "[fields]\ncondition = \"C\"\nmileage = \"M\"\n[[filter]]\nkeep = \"row.DEL != 'Y'\"\nreason = \"deleted\"\n[[filter]]\nkeep = \"out.condition != 'new' or out.mileage <= 500\"\nreason = \"a loaner\"",
        row: r#"{"DEL":"N","C":"used","M":40000}"#,
        becomes: r#"{"condition":"used"}"#,
        wrong: Wrong::Row(r#"{"DEL":"Y","C":"used","M":40000}"#, "deleted"),
    },
    Need {
        what: "Duplicates: one VIN twice keeps the row that changed last (`newest`) or both (`keep`); one stock number on two VINs is reported",
        written: "[fields]\nvin = \"VIN\"\n[duplicates]\nsame_vin = \"newest\"",
        row: r#"{"VIN":"1HGCV1F32MA900101"}"#,
        becomes: r#"{"vin":"1HGCV1F32MA900101"}"#,
        wrong: Wrong::File("[duplicates]\nsame_vin = \"oldest\"", "no such rule"),
    },
    Need {
        what: "Checks: VIN length and check digit, ranges of every member",
        written: "[fields]\nvin = \"VIN\"\nyear = \"YR\"",
        row: r#"{"VIN":"7F01C900123","YR":1967}"#,
        becomes: r#"{"vin":null,"year":1967,"other_attributes":{"serial_number":"7F01C900123"}}"#,
        wrong: Wrong::Row(r#"{"YR":21}"#, "lies outside 1900 to 2100"),
    },
    Need {
        what: "Whose time `updated_at` is: a column's, or the file's own; never the time of reading",
        written: "[updated_at]\nprovenance = \"source_column\"\nfrom = \"T\"\nsteps = [{ datetime = \"epoch_s\" }]",
        row: r#"{"T":1795273200}"#,
        becomes: r#"{"updated_at":"2026-11-21T15:00:00Z"}"#,
        wrong: Wrong::File("[updated_at]\nfrom = \"T\"", "is not stated"),
    },
    Need {
        what: "What is gone from the source is gone; a reading that lost too much is held (`inventory.shrink_guard` of the configuration)",
        written: "[fields]\nstock = \"STK\"",
        row: r#"{"STK":"U1"}"#,
        becomes: r#"{"stock":"U1"}"#,
        wrong: Wrong::File("[absent]\nmeans = \"sold\"", "no such section"),
    },
];

/// A whole mapping around what an example writes.
fn file(written: &str) -> String {
    let (fields, rest) = match written.strip_prefix("[fields]\n") {
        Some(rest) => rest.find("\n[").map_or((rest, ""), |at| rest.split_at(at)),
        None => ("", written),
    };
    let id = "vehicle_id = { value = \"1\" }\n";
    let status = if fields.contains("status =") {
        ""
    } else {
        "status = { value = \"available\" }\n"
    };
    let time = if rest.contains("[updated_at]") {
        ""
    } else {
        "[updated_at]\nprovenance = \"as_of\"\n"
    };
    format!(
        "name = \"t\"\n[source]\nkind = \"feed\"\nformat = \"json\"\n[fields]\n{id}{status}{fields}\n{time}{rest}\n"
    )
}

fn mapping(written: &str) -> Mapping {
    Mapping::parse(&file(written)).unwrap_or_else(|findings| panic!("{written}: {findings:?}"))
}

fn apply(mapping: &Mapping, row: &str) -> Outcome {
    let fields: Map<String, Value> = serde_json::from_str(row).unwrap();
    let tables = Tables::new().with_as_of("2026-11-29T06:00:00Z".parse().unwrap());
    mapping.apply(
        &Row {
            fields,
            ..Row::default()
        },
        &tables,
    )
}

/// Everything that is said of a row.
fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Published(_, warnings) => {
            let reasons: Vec<&str> = warnings.iter().map(|w| w.reason.as_str()).collect();
            reasons.join("; ")
        }
        Outcome::Hidden { reason, .. } | Outcome::Rejected { reason, .. } => reason.clone(),
    }
}

#[test]
fn every_need_is_met_and_its_opposite_is_named() {
    assert_eq!(NEEDS.len(), 26);
    for need in NEEDS {
        let outcome = apply(&mapping(need.written), need.row);
        let Outcome::Published(listing, _) = &outcome else {
            panic!("{}: {}", need.what, said(&outcome))
        };
        let wanted: Map<String, Value> = serde_json::from_str(need.becomes).unwrap();
        for (member, value) in &wanted {
            let is = listing.get(member).unwrap_or(&Value::Null);
            assert_eq!(is, value, "{}: {member}", need.what);
        }
        match need.wrong {
            Wrong::Row(row, words) => {
                let said = said(&apply(&mapping(need.written), row));
                assert!(said.contains(words), "{}: {said}", need.what);
            }
            Wrong::File(written, words) => {
                let findings = Mapping::parse(&file(written)).expect_err(need.what);
                let all: Vec<String> = findings.iter().map(ToString::to_string).collect();
                let all = all.join("\n");
                assert!(all.contains(words), "{}: {all}", need.what);
            }
        }
    }
}

fn step_mapping(step: &str) -> Mapping {
    let codes = if step.contains("table") {
        "\n[tables.codes]\n\"10\" = \"ten\"\n\"90\" = { hide = \"sold\" }"
    } else {
        ""
    };
    mapping(&format!(
        "[other_attributes]\nx = {{ from = \"c\", steps = [{step}] }}{codes}"
    ))
}

fn step_row(cell: &str) -> String {
    format!(r#"{{"c":{cell},"unit":"km","NU":"U"}}"#)
}

#[test]
fn every_step_does_what_the_reference_says() {
    for Example(step, cell, wanted, refuses) in STEPS {
        let mapping = step_mapping(step);
        let outcome = apply(&mapping, &step_row(cell));
        let Outcome::Published(listing, warnings) = &outcome else {
            panic!("{step}: {}", said(&outcome))
        };
        assert_eq!(warnings, &[], "{step} of {cell}");
        let is = listing
            .get("other_attributes")
            .map_or(&Value::Null, |attributes| &attributes["x"]);
        let wanted: Value = serde_json::from_str(wanted).unwrap();
        assert_eq!(is, &wanted, "{step} of {cell}");
        if let Some((cell, words)) = refuses {
            let outcome = apply(&mapping, &step_row(cell));
            let hidden = matches!(outcome, Outcome::Hidden { .. });
            let said = format!("{}{}", if hidden { "hidden: " } else { "" }, said(&outcome));
            assert!(said.contains(words), "{step} of {cell}: {said}");
        }
    }
}

/// The steps as the reference writes them.
pub(super) fn steps() -> Vec<&'static str> {
    STEPS.iter().map(|Example(step, ..)| *step).collect()
}

fn name(step: &str) -> &str {
    let bare = step.trim_start_matches(['"', '{', ' ']);
    bare.split(['"', ' ']).next().unwrap()
}

#[test]
fn no_step_is_missing_from_the_reference() {
    let refusal = shorthand::read(toml::Value::from("no such step")).unwrap_err();
    let (_, list) = refusal.split_once("expected one of ").unwrap();
    let known: BTreeSet<&str> = list
        .split(", ")
        .map(|name| name.trim_matches('`'))
        .collect();
    let shown: BTreeSet<&str> = STEPS.iter().map(|Example(step, ..)| name(step)).collect();
    assert_eq!(known, shown);
}

fn reference() -> String {
    let bar = |text: &str| text.replace('|', "\\|");
    let mut text =
        String::from("\n## Steps\n\n| step | cell | becomes | refused |\n|---|---|---|---|\n");
    for Example(step, cell, becomes, refuses) in STEPS {
        let refused = refuses.map_or(String::new(), |(cell, words)| format!("`{cell}`: {words}"));
        let (step, cell, becomes) = (bar(step), bar(cell), bar(becomes));
        writeln!(
            text,
            "| `{step}` | `{cell}` | `{becomes}` | {} |",
            bar(&refused)
        )
        .unwrap();
    }
    text.push_str("\n## What feeds need, and how it is written\n");
    for (at, need) in NEEDS.iter().enumerate() {
        let Need {
            what,
            written,
            row,
            becomes,
            wrong,
        } = need;
        write!(
            text,
            "\n### {}. {what}\n\n```toml\n{written}\n```\n\n`{row}` becomes `{becomes}`.\n",
            at + 1
        )
        .unwrap();
        match wrong {
            Wrong::Row(row, words) => writeln!(text, "`{row}`: \"{words}\".").unwrap(),
            Wrong::File(written, words) => {
                write!(
                    text,
                    "Does not load, \"{words}\":\n\n```toml\n{written}\n```\n"
                )
                .unwrap();
            }
        }
    }
    text
}

/// To renew the document, cut what follows its mark, run the test, and look at what it wrote.
#[test]
fn the_document_is_what_the_examples_say() {
    let path = root().join("docs/mapping.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (prose, written) = document.split_once("fall behind. -->\n").unwrap();
    let made = reference();
    if written.is_empty() {
        std::fs::write(&path, format!("{prose}fall behind. -->\n{made}")).unwrap();
        panic!("the reference was cut and has been written anew: look at it");
    }
    assert_eq!(written, made);
}
