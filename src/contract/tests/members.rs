//! The contract's members as the specification's tables give them (`tests/data/contract/members.txt`), and
//! documents made from that table. Must not look at a schema: schemas are held against it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// The largest integer that a double holds exactly.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// What a member may hold.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Const(Value),
    Enum(Vec<String>),
    Text {
        least: usize,
        most: Option<usize>,
        filled: bool,
    },
    Number {
        integer: bool,
        low: Option<f64>,
        high: Option<f64>,
        above_low: bool,
    },
    Boolean,
    Scalar,
    /// A text of a named form: `time`, `vin`, …
    Form(String),
    Object(String),
    Map(Box<Kind>),
    Attributes,
    List {
        least: bool,
        unique: bool,
        one: bool,
        of: Box<Kind>,
    },
    OrNull(Box<Kind>),
}

/// One member of a type.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) kind: Kind,
}

/// Members that a document of a type sets otherwise, or has not.
#[derive(Clone, Debug, Default)]
struct Variant {
    set: Vec<(String, Value)>,
    without: Vec<String>,
}

/// One type of the contract.
#[derive(Clone, Debug, Default)]
pub(super) struct Type {
    pub(super) closed: bool,
    variants: Vec<Variant>,
    pub(super) members: Vec<Member>,
}

/// A member at its place in a document.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) owner: String,
    pub(super) pointer: String,
    pub(super) member: Member,
}

/// Every type by its name.
pub(super) fn types() -> &'static BTreeMap<String, Type> {
    static TYPES: LazyLock<BTreeMap<String, Type>> = LazyLock::new(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/contract/members.txt");
        parse(&fs::read_to_string(path).unwrap())
    });
    &TYPES
}

fn parse(text: &str) -> BTreeMap<String, Type> {
    let mut found: BTreeMap<String, Type> = BTreeMap::new();
    let mut current = String::new();
    for line in text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let words: Vec<&str> = line.split(' ').collect();
        if let Some(name) = words[0].strip_prefix('[') {
            current = name.trim_end_matches(']').to_owned();
            let mut new = words
                .get(3)
                .map_or_else(Type::default, |like| found[*like].clone());
            new.closed = words[1] == "closed";
            found.insert(current.clone(), new);
            continue;
        }
        let this = found.get_mut(&current).unwrap();
        if words[0] == "variant" {
            this.variants.push(variant(&words[1..]));
            continue;
        }
        let member = Member {
            name: words[0].trim_end_matches('!').to_owned(),
            required: words[0].ends_with('!'),
            kind: kind(&words[1..]),
        };
        this.members.retain(|known| known.name != member.name);
        this.members.push(member);
    }
    found
}

fn variant(words: &[&str]) -> Variant {
    let mut variant = Variant::default();
    for word in words {
        if let Some(absent) = word.strip_prefix('-') {
            variant.without.push(absent.to_owned());
        } else {
            let (name, value) = word.split_once('=').unwrap();
            let value = serde_json::from_str(value).unwrap();
            variant.set.push((name.to_owned(), value));
        }
    }
    variant
}

fn kind(words: &[&str]) -> Kind {
    if let Some(plain) = words[0].strip_suffix('?') {
        let mut plain_words = vec![plain];
        plain_words.extend(&words[1..]);
        return Kind::OrNull(Box::new(kind(&plain_words)));
    }
    let (low, high) = words.get(1).map_or((None, None), |bounds| range(bounds));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small lengths"
    )]
    let length = |bound: f64| bound as usize;
    let list = |least, unique, one| {
        let of = Box::new(kind(&words[1..]));
        Kind::List {
            least,
            unique,
            one,
            of,
        }
    };
    match words[0] {
        "const" => Kind::Const(serde_json::from_str(words[1]).unwrap()),
        "enum" => Kind::Enum(words[1..].iter().map(|w| (*w).to_owned()).collect()),
        "text" | "filled" => Kind::Text {
            least: low.map_or(0, length),
            most: high.map(length),
            filled: words[0] == "filled",
        },
        "integer" | "number" => Kind::Number {
            integer: words[0] == "integer",
            low,
            high,
            above_low: words.get(1).is_some_and(|bounds| bounds.starts_with('>')),
        },
        "boolean" => Kind::Boolean,
        "scalar" => Kind::Scalar,
        "map" => Kind::Map(Box::new(kind(&words[1..]))),
        "attributes" => Kind::Attributes,
        "list" => list(false, false, false),
        "list+" => list(true, false, false),
        "set" => list(false, true, false),
        "set+" => list(true, true, false),
        "one" => list(true, false, true),
        object if object.starts_with('<') => {
            Kind::Object(object.trim_matches(['<', '>']).to_owned())
        }
        form @ ("time" | "date" | "email" | "uri" | "https" | "issuer" | "redirect" | "phone"
        | "vin" | "code" | "hours") => Kind::Form(form.to_owned()),
        other => panic!("no kind {other}"),
    }
}

fn range(bounds: &str) -> (Option<f64>, Option<f64>) {
    if let Some(low) = bounds.strip_prefix('>') {
        return (low.parse().ok(), None);
    }
    let number = |text: &str| {
        if text == "safe" {
            Some(SAFE)
        } else {
            text.parse().ok()
        }
    };
    bounds
        .split_once("..")
        .map_or((None, None), |(low, high)| (number(low), number(high)))
}

/// Every document of the type: all its members, in each variant.
pub(super) fn documents(name: &str) -> Vec<Value> {
    let this = &types()[name];
    if this.variants.is_empty() {
        return vec![document(this, &Variant::default())];
    }
    this.variants.iter().map(|v| document(this, v)).collect()
}

fn document(this: &Type, variant: &Variant) -> Value {
    let mut members = Map::new();
    for member in &this.members {
        if !variant.without.contains(&member.name) {
            members.insert(member.name.clone(), sample(&member.kind));
        }
    }
    for (name, value) in &variant.set {
        members.insert(name.clone(), value.clone());
    }
    Value::Object(members)
}

/// A right value.
pub(super) fn sample(kind: &Kind) -> Value {
    match kind {
        Kind::Const(value) => value.clone(),
        Kind::Enum(words) => json!(words[0]),
        Kind::Text { least, .. } => json!("x".repeat(*least.max(&1))),
        Kind::Number {
            integer: true, low, ..
        } => {
            #[expect(clippy::cast_possible_truncation, reason = "small bounds")]
            let low = low.unwrap_or(0.0) as i64;
            json!(low.max(1))
        }
        Kind::Number { low, .. } => json!(low.unwrap_or(0.0) + 1.5),
        Kind::Boolean => json!(true),
        Kind::Scalar => json!("x"),
        Kind::Form(form) => json!(match form.as_str() {
            "time" => "2026-10-24T15:00:00Z",
            "date" => "2026-10-24",
            "email" => "alex@example.com",
            "phone" => "+15035550142",
            "vin" => "1HGCV1F30KA000001",
            "code" => "heated_seats",
            "hours" => "09:00",
            _ => "https://a.example/x",
        }),
        Kind::Object(name) => documents(name).swap_remove(0),
        Kind::Map(of) => json!({ "a": sample(of) }),
        Kind::Attributes => {
            json!({"wheels": 2, "abs": true, "trim": "x", "sizes": [1, 2], "tags": ["a"]})
        }
        Kind::List { of, .. } => json!([sample(of)]),
        Kind::OrNull(kind) => sample(kind),
    }
}

/// Every member that stands in `document`, which is of the type `name`, at its place.
pub(super) fn places(name: &str, document: &Value, pointer: &str, found: &mut Vec<Place>) {
    for member in &types()[name].members {
        let Some(value) = document.get(&member.name) else {
            continue;
        };
        let here = format!(
            "{pointer}/{}",
            member.name.replace('~', "~0").replace('/', "~1")
        );
        found.push(Place {
            owner: name.to_owned(),
            pointer: here.clone(),
            member: member.clone(),
        });
        inside(&member.kind, value, &here, found);
    }
}

fn inside(kind: &Kind, value: &Value, here: &str, found: &mut Vec<Place>) {
    match kind {
        Kind::Object(name) if value.is_object() => places(name, value, here, found),
        Kind::OrNull(kind) => inside(kind, value, here, found),
        Kind::List { of, .. } => {
            for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                inside(of, item, &format!("{here}/{index}"), found);
            }
        }
        Kind::Map(of) => {
            for (name, item) in value.as_object().into_iter().flatten() {
                inside(of, item, &format!("{here}/{name}"), found);
            }
        }
        Kind::Const(_)
        | Kind::Enum(_)
        | Kind::Text { .. }
        | Kind::Number { .. }
        | Kind::Boolean
        | Kind::Scalar
        | Kind::Form(_)
        | Kind::Object(_)
        | Kind::Attributes => {}
    }
}

/// A wrong value of a member, the place inside it that is wrong, and the keywords that may say so.
pub(super) type Wrong = (Value, String, &'static [&'static str]);

/// Every way in which `value`, a right value of `kind`, can be made wrong.
pub(super) fn wrongs(kind: &Kind, value: &Value) -> Vec<Wrong> {
    let mut found = wrong_types(kind);
    let here = |value: Value, keywords: &'static [&'static str]| (value, String::new(), keywords);
    match kind {
        Kind::Const(_) => found.push(here(json!("zz unknown"), &["const"])),
        Kind::Enum(_) => found.push(here(json!("zz unknown"), &["enum"])),
        Kind::Text {
            least,
            most,
            filled,
        } => {
            if *least > 0 || *filled {
                found.push(here(json!(""), &["minLength", "pattern"]));
            }
            if *least > 1 {
                found.push(here(json!("x".repeat(least - 1)), &["minLength"]));
            }
            if *filled {
                found.push(here(json!(" \t\u{a0}"), &["pattern"]));
            }
            if let Some(most) = most {
                found.push(here(json!("é".repeat(most + 1)), &["maxLength"]));
            }
        }
        Kind::Number {
            integer,
            low,
            high,
            above_low,
        } => {
            found.extend(wrong_numbers(*integer, *low, *high, *above_low));
        }
        Kind::Form(form) => found.extend(wrong_forms(form)),
        Kind::List {
            least,
            unique,
            one,
            of,
        } => {
            let items = value.as_array().unwrap();
            if *least {
                found.push(here(json!([]), &["minItems"]));
            }
            let twice: Vec<_> = items.iter().chain(items.first()).cloned().collect();
            if *unique {
                found.push(here(json!(twice), &["uniqueItems"]));
            }
            if *one {
                found.push(here(json!(twice), &["maxItems"]));
            }
            if let Some(first) = items.first() {
                for (wrong, place, keywords) in wrongs(of, first) {
                    let mut items = items.clone();
                    items[0] = wrong;
                    found.push((json!(items), format!("/0{place}"), keywords));
                }
            }
        }
        Kind::Map(of) => {
            for (wrong, place, keywords) in wrongs(of, &sample(of)) {
                found.push((json!({ "a": wrong }), format!("/a{place}"), keywords));
            }
        }
        Kind::Attributes => {
            for wrong in [json!(null), json!({}), json!([{}]), json!([1, "a"])] {
                found.push((json!({ "a": wrong }), "/a".to_owned(), &["anyOf"]));
            }
        }
        Kind::OrNull(kind) => {
            let plain = wrongs(kind, value);
            found.extend(plain.into_iter().filter(|(wrong, ..)| !wrong.is_null()));
        }
        Kind::Boolean | Kind::Scalar | Kind::Object(_) => {}
    }
    found
}

fn wrong_types(kind: &Kind) -> Vec<Wrong> {
    let right: fn(&Value) -> bool = match kind {
        Kind::Const(Value::Bool(_)) | Kind::Boolean => Value::is_boolean,
        Kind::Const(_) | Kind::Enum(_) | Kind::Text { .. } | Kind::Form(_) => Value::is_string,
        Kind::Number { integer: true, .. } => |value| value.is_i64(),
        Kind::Number { .. } => Value::is_number,
        Kind::Scalar => |value| value.is_string() || value.is_boolean() || value.is_i64(),
        Kind::Object(_) | Kind::Map(_) | Kind::Attributes => Value::is_object,
        Kind::List { .. } => Value::is_array,
        Kind::OrNull(_) => return Vec::new(),
    };
    let keywords: &[&str] = if matches!(kind, Kind::Const(_)) {
        &["type", "const"]
    } else {
        &["type"]
    };
    let all = [
        json!(null),
        json!(true),
        json!(7),
        json!(7.5),
        json!("zz"),
        json!([]),
        json!({}),
    ];
    let wrong = all.into_iter().filter(|value| !right(value));
    wrong
        .map(|value| (value, String::new(), keywords))
        .collect()
}

fn wrong_numbers(integer: bool, low: Option<f64>, high: Option<f64>, above: bool) -> Vec<Wrong> {
    let number = |value: f64| {
        if integer {
            json!(value.to_string().parse::<i64>().unwrap())
        } else {
            json!(value)
        }
    };
    let mut found: Vec<(Value, &'static [&'static str])> = Vec::new();
    if let Some(low) = low.filter(|_| above) {
        found.push((number(low), &["exclusiveMinimum"]));
        found.push((number(low - 1.0), &["exclusiveMinimum"]));
    } else if let Some(low) = low {
        found.push((number(low - 1.0), &["minimum"]));
        found.push((json!(-1e300), &["minimum"]));
    }
    if let Some(high) = high {
        found.push((number(high + 1.0), &["maximum"]));
        found.push((json!(1e300), &["maximum"]));
        found.push((json!(u64::MAX), &["maximum"]));
    }
    found
        .into_iter()
        .map(|(value, keywords)| (value, String::new(), keywords))
        .collect()
}

fn wrong_forms(form: &str) -> Vec<Wrong> {
    let (texts, keywords): (&[&str], &'static [&'static str]) = match form {
        "time" => (
            &[
                "2026-10-24T15:00:00",
                "2026-02-30T15:00:00Z",
                "2026-10-24",
                "soon",
            ],
            &["format"],
        ),
        "date" => (
            &["2026-02-30", "24.10.2026", "2026-10-24T15:00:00Z"],
            &["format"],
        ),
        "email" => (&["zz unknown", "@example.com", "a@"], &["format"]),
        "uri" => (&["zz unknown", "/relative", "a.example"], &["format"]),
        "https" => (
            &[
                "zz unknown",
                "ftp://a.example/",
                "https://u:p@a.example/",
                "https:///x",
            ],
            &["pattern"],
        ),
        "issuer" => (
            &[
                "zz unknown",
                "https://a.example/x?y=1",
                "https://a.example#x",
                "https:///x",
            ],
            &["pattern"],
        ),
        "redirect" => (
            &["zz unknown", "http://a.example/cb", "http://localhost/cb"],
            &["pattern"],
        ),
        "phone" => (
            &[
                "5035550142",
                "+0503555",
                "+1 503 555 0142",
                "+1234567890123456",
            ],
            &["pattern"],
        ),
        "vin" => (
            &["1HGCV1F30KA00000", "1hgcv1f30ka000001", "1HGCV1F30KA00000I"],
            &["pattern"],
        ),
        "code" => (
            &["Heated seats", "heated__seats", "_heated", "heated-seats"],
            &["pattern"],
        ),
        "hours" => (&["9:00", "24:00", "12:60"], &["pattern"]),
        other => panic!("no form {other}"),
    };
    texts
        .iter()
        .map(|text| (json!(text), String::new(), keywords))
        .collect()
}
