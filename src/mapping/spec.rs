//! How steps are written in a mapping file, with all their options. Must not know how they run.

use serde::Deserialize;

/// One step with all its options; `shorthand` reads what is written shorter.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Spec {
    Trim(Nothing),
    Collapse(Nothing),
    Upper(Nothing),
    Lower(Nothing),
    Title(Nothing),
    Sentence(Nothing),
    StripHtml(Nothing),
    FixEncoding(Nothing),
    Json(Nothing),
    First(Nothing),
    Dedupe(Nothing),
    Round(Nothing),
    Sentinel(SentinelSpec),
    Default(ValueSpec),
    Table(TableSpec),
    Number(NumberSpec),
    WholeDollars(DollarsSpec),
    Measure(MeasureSpec),
    Century(CenturySpec),
    Date(DateSpec),
    Datetime(DateTimeSpec),
    Time(DateSpec),
    Boolean(BooleanSpec),
    Extract(ExtractSpec),
    Replace(ReplaceSpec),
    Template(TextSpec),
    Expr(TextSpec),
    Split(SplitSpec),
    Limit(LimitSpec),
    Urls(UrlsSpec),
    Pick(PickSpec),
}

/// A step without options.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SentinelSpec {
    pub(super) values: Vec<toml::Value>,
    /// Keep the value where this holds.
    pub(super) unless: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValueSpec {
    pub(super) value: toml::Value,
}

/// What becomes of a code that a table does not have.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Miss {
    /// The field is left out with a warning.
    #[default]
    Warn,
    /// The field is left out silently.
    Omit,
    /// The value stays as it is.
    Pass,
    /// The vehicle is not shown.
    Hide,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableSpec {
    pub(super) of: String,
    #[serde(default)]
    pub(super) miss: Miss,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NumberSpec {
    /// `1,234.56`, `1.234,56` or `1234.56`: the shape is the format.
    #[serde(default = "default_number")]
    pub(super) format: String,
    /// Digits that stand behind an unwritten decimal point: 2 for cents.
    #[serde(default)]
    pub(super) implied_decimals: u8,
}

fn default_number() -> String {
    "1,234.56".to_owned()
}

/// What to do with cents, since AAP money is whole US dollars.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cents {
    #[default]
    Reject,
    Round,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DollarsSpec {
    #[serde(default)]
    pub(super) cents: Cents,
}

/// Units that feeds mix.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    Mi,
    Km,
    Hp,
    Kw,
    Cc,
    L,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeasureSpec {
    pub(super) to: Unit,
    /// The unit of a value that names none.
    pub(super) unit: Option<Unit>,
    /// The column that names the unit.
    pub(super) unit_from: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CenturySpec {
    /// Two digits up to this one are 20xx, the others 19xx.
    #[serde(default = "default_pivot")]
    pub(super) pivot: i64,
}

fn default_pivot() -> i64 {
    35
}

/// One text or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub(super) fn list(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DateSpec {
    pub(super) format: OneOrMany,
}

/// Which of two instants a local time in the repeated hour means.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ambiguous {
    #[default]
    Reject,
    Earlier,
    Later,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DateTimeSpec {
    /// strftime texts, or `rfc3339`, `epoch_s`, `epoch_ms`.
    pub(super) format: OneOrMany,
    /// IANA name for times without an offset.
    pub(super) zone: Option<String>,
    /// The column that holds the IANA name.
    pub(super) zone_from: Option<String>,
    /// The table of zones, where that column holds a place's code.
    pub(super) zones: Option<String>,
    #[serde(default)]
    pub(super) ambiguous: Ambiguous,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BooleanSpec {
    #[serde(default = "default_yes")]
    pub(super) yes: Vec<String>,
    #[serde(default = "default_no")]
    pub(super) no: Vec<String>,
    #[serde(default)]
    pub(super) unknown: Vec<String>,
}

fn default_yes() -> Vec<String> {
    ["y", "yes", "true", "t", "1"].map(str::to_owned).to_vec()
}

fn default_no() -> Vec<String> {
    ["n", "no", "false", "f", "0"].map(str::to_owned).to_vec()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExtractSpec {
    pub(super) pattern: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplaceSpec {
    pub(super) pattern: String,
    pub(super) with: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextSpec {
    pub(super) value: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SplitSpec {
    pub(super) on: OneOrMany,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitSpec {
    pub(super) count: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UrlsSpec {
    /// The address that relative ones stand on.
    pub(super) base: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PickSpec {
    pub(super) path: String,
}
