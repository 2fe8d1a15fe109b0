//! Whether the documents of one deployment tell one truth (AAP-066). Reads them as a client does, so that the
//! start of a server and the look at a foreign one judge alike. Must not know what a deployment meant.

mod addresses;
mod claims;

use serde_json::Value;

pub use addresses::{described, host, is_loopback, links, published};

/// The documents as they were read.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Where the Poppy document was read.
    pub poppy_url: &'a str,
    pub agent_card: &'a Value,
    pub poppy: &'a Value,
    pub llms_txt: &'a str,
    pub api_catalog: Option<&'a Value>,
    pub openapi: Option<&'a Value>,
    /// The issuer's metadata.
    pub oauth: Option<&'a Value>,
    /// The list in the result of `tools/list`.
    pub tools: Option<&'a Value>,
}

/// What the documents can disagree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    /// Whose documents these are (AAP-031).
    Identity,
    /// The one MCP address (AAP-029, AAP-042).
    Mcp,
    /// AAP release, extension URI and schema addresses (AAP-020, AAP-043, AAP-045).
    Release,
    /// The implemented skills (AAP-017, AAP-043, AAP-045).
    Skills,
    /// What search can do (AAP-044).
    Capabilities,
    /// The issuer and the domains it stands for (AAP-033, AAP-219).
    Issuer,
    /// The native API and its security (AAP-045, AAP-266).
    Api,
    /// The links from one document to the others (AAP-024, AAP-036).
    Links,
    /// Every address is HTTPS, or HTTP on loopback, without credentials (AAP-048, AAP-049).
    Addresses,
    /// The catalogue names the same endpoints.
    Catalogue,
}

impl Topic {
    /// Every topic, in the order in which they are judged.
    pub const ALL: [Self; 10] = [
        Self::Identity,
        Self::Mcp,
        Self::Release,
        Self::Skills,
        Self::Capabilities,
        Self::Issuer,
        Self::Api,
        Self::Links,
        Self::Addresses,
        Self::Catalogue,
    ];

    /// A short name, for machines.
    pub fn id(self) -> &'static str {
        self.texts().0
    }

    /// What holds when nothing disagrees.
    pub fn claim(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Identity => ("identity", "the Poppy document names the host it lies on"),
            Self::Mcp => ("mcp-address", "one MCP address is named everywhere"),
            Self::Release => ("release", "one AAP release is named everywhere"),
            Self::Skills => ("skills", "the skills are the same everywhere"),
            Self::Capabilities => (
                "capabilities",
                "card and search tool state the same search capabilities",
            ),
            Self::Issuer => ("issuer", "the issuer stands for this domain"),
            Self::Api => (
                "native-api",
                "the native API is described where it is served",
            ),
            Self::Links => ("links", "the documents link to each other"),
            Self::Addresses => (
                "addresses",
                "every address is HTTPS, or HTTP on loopback, and free of credentials",
            ),
            Self::Catalogue => ("catalogue", "the API catalogue names these endpoints only"),
        }
    }
}

/// One contradiction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    pub topic: Topic,
    pub words: String,
}

/// Every contradiction, in the order of [`Topic::ALL`].
pub fn find(seen: &Seen<'_>) -> Vec<Disagreement> {
    let judge = |topic: Topic| match topic {
        Topic::Identity => claims::identity(seen),
        Topic::Mcp => claims::mcp(seen),
        Topic::Release => claims::release(seen),
        Topic::Skills => claims::skills(seen),
        Topic::Capabilities => claims::capabilities(seen),
        Topic::Issuer => claims::issuer(seen),
        Topic::Api => claims::api(seen),
        Topic::Links => addresses::documents(seen),
        Topic::Addresses => addresses::all(seen),
        Topic::Catalogue => addresses::catalogue(seen),
    };
    let found = |topic: Topic| {
        let words = judge(topic).into_iter();
        words.map(move |words| Disagreement { topic, words })
    };
    Topic::ALL.into_iter().flat_map(found).collect()
}

/// The parameters of the card's AAP extension.
pub fn params(card: &Value) -> &Value {
    extension(card).get("params").unwrap_or(&Value::Null)
}

/// The card's AAP extension, `null` where there is none.
fn extension(card: &Value) -> &Value {
    let extensions = card.pointer("/capabilities/extensions");
    let is_aap = |extension: &&Value| {
        text(extension, "/uri").starts_with("https://autoagentprotocol.org/extensions/aap/")
    };
    list(extensions).find(is_aap).unwrap_or(&Value::Null)
}

/// The AAP extension of a Poppy document.
pub fn bridge(poppy: &Value) -> &Value {
    let bridge = poppy.pointer("/extensions/autoagentprotocol.org~1aap");
    bridge.unwrap_or(&Value::Null)
}

/// The entries of a Poppy document's `apis` of one kind.
pub fn apis<'a>(poppy: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    list(poppy.get("apis")).filter(move |api| text(api, "/type") == kind)
}

/// The A2A interfaces of a card.
pub fn interfaces(card: &Value) -> impl Iterator<Item = &Value> {
    list(card.get("supportedInterfaces"))
}

/// A tool's AAP metadata.
fn tool_meta(tool: &Value) -> &Value {
    let meta = tool.pointer("/_meta/autoagentprotocol.org~1aap");
    meta.unwrap_or(&Value::Null)
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// The text at a pointer, empty where there is none.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}
