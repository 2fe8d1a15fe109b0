//! The one automotive error, its sixteen codes and what each binding makes of them. Must not know envelopes.

use std::fmt;

use serde_json::{Map, Value, json};

/// An AAP error code (AAP-526). [`ErrorCode::ALL`] is the table of their wire mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    UnsupportedSkill,
    UnsupportedFilter,
    UnsupportedSort,
    InvalidCursor,
    SchemaValidationFailed,
    MissingRequiredField,
    InvalidCondition,
    DealerNotFound,
    VehicleNotFound,
    VehicleUnavailable,
    ContactConsentRequired,
    InvalidConsent,
    AppointmentTimeUnavailable,
    IdempotencyConflict,
    RateLimited,
    InternalError,
}

/// One row of the error table: name, JSON-RPC number on A2A, HTTP status on PAP, default `retryable`.
struct Row(&'static str, i32, u16, bool);

impl ErrorCode {
    /// Every code, in the order of the specification's table.
    pub const ALL: [Self; 16] = [
        Self::UnsupportedSkill,
        Self::UnsupportedFilter,
        Self::UnsupportedSort,
        Self::InvalidCursor,
        Self::SchemaValidationFailed,
        Self::MissingRequiredField,
        Self::InvalidCondition,
        Self::DealerNotFound,
        Self::VehicleNotFound,
        Self::VehicleUnavailable,
        Self::ContactConsentRequired,
        Self::InvalidConsent,
        Self::AppointmentTimeUnavailable,
        Self::IdempotencyConflict,
        Self::RateLimited,
        Self::InternalError,
    ];

    fn row(self) -> Row {
        match self {
            Self::UnsupportedSkill => Row("UNSUPPORTED_SKILL", -32602, 404, false),
            Self::UnsupportedFilter => Row("UNSUPPORTED_FILTER", -32602, 422, false),
            Self::UnsupportedSort => Row("UNSUPPORTED_SORT", -32602, 422, false),
            Self::InvalidCursor => Row("INVALID_CURSOR", -32602, 422, false),
            Self::SchemaValidationFailed => Row("SCHEMA_VALIDATION_FAILED", -32602, 422, false),
            Self::MissingRequiredField => Row("MISSING_REQUIRED_FIELD", -32602, 422, false),
            Self::InvalidCondition => Row("INVALID_CONDITION", -32602, 422, false),
            Self::DealerNotFound => Row("DEALER_NOT_FOUND", -32000, 404, false),
            Self::VehicleNotFound => Row("VEHICLE_NOT_FOUND", -32000, 404, false),
            Self::VehicleUnavailable => Row("VEHICLE_UNAVAILABLE", -32000, 409, false),
            Self::ContactConsentRequired => Row("CONTACT_CONSENT_REQUIRED", -32000, 403, false),
            Self::InvalidConsent => Row("INVALID_CONSENT", -32000, 403, false),
            Self::AppointmentTimeUnavailable => {
                Row("APPOINTMENT_TIME_UNAVAILABLE", -32000, 409, false)
            }
            Self::IdempotencyConflict => Row("IDEMPOTENCY_CONFLICT", -32000, 409, false),
            Self::RateLimited => Row("RATE_LIMITED", -32000, 429, true),
            Self::InternalError => Row("INTERNAL_ERROR", -32603, 500, true),
        }
    }

    /// The code as it stands on the wire.
    pub fn id(self) -> &'static str {
        self.row().0
    }

    /// The JSON-RPC error number on A2A (AAP-188 … AAP-191).
    pub fn a2a_number(self) -> i32 {
        self.row().1
    }

    /// The HTTP status on PAP (AAP-294 … AAP-298).
    pub fn pap_status(self) -> u16 {
        self.row().2
    }

    /// The default of `retryable` (AAP-538).
    pub fn retryable(self) -> bool {
        self.row().3
    }

    /// The code with this wire name.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.id() == id)
    }
}

/// One detected problem of a request: where, which constraint, and what to do (AAP-529). Holds no
/// customer value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// JSON Pointer into the request; `""` is the whole of it.
    pub instance_location: String,
    /// The violated constraint, e.g. `required`, `enum`, `capability`.
    pub keyword: String,
    /// A safe explanation with a concrete correction.
    pub error: String,
}

impl Problem {
    /// A problem at `pointer`.
    pub fn new(
        pointer: impl Into<String>,
        keyword: impl Into<String>,
        error: impl Into<String>,
    ) -> Self {
        Self {
            instance_location: pointer.into(),
            keyword: keyword.into(),
            error: error.into(),
        }
    }

    fn to_value(&self) -> Value {
        json!({
            "instanceLocation": self.instance_location,
            "keyword": self.keyword,
            "error": self.error,
        })
    }
}

/// A skill that failed. `message` and `details` are public; `cause` is private and goes to the log only.
#[derive(Clone, Debug)]
pub struct AapError {
    pub code: ErrorCode,
    pub message: String,
    pub details: Map<String, Value>,
    pub retryable: bool,
    /// What really happened, for the log. Never serialised.
    pub cause: Option<String>,
}

impl AapError {
    /// An error with the code's default `retryable` and no details.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: Map::new(),
            retryable: code.retryable(),
            cause: None,
        }
    }

    /// `INTERNAL_ERROR` with a public text that says nothing of the private `cause`.
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::new(
            ErrorCode::InternalError,
            "The dealer's systems could not answer. Try again later.",
        )
        .with_cause(cause)
    }

    /// `RATE_LIMITED` with its required minimum wait (AAP-545).
    pub fn rate_limited(message: impl Into<String>, retry_after_ms: u64) -> Self {
        Self::new(ErrorCode::RateLimited, message)
            .with_detail("retry_after_ms", Value::from(retry_after_ms))
    }

    /// Adds the private cause.
    #[must_use]
    pub fn with_cause(mut self, cause: impl fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// Adds `details.errors[]`.
    #[must_use]
    pub fn with_problems(self, problems: &[Problem]) -> Self {
        let errors = problems.iter().map(Problem::to_value).collect();
        self.with_detail("errors", Value::Array(errors))
    }

    /// Adds `details.hint`.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        self.with_detail("hint", Value::String(hint.into()))
    }

    /// Adds one member of `details`.
    #[must_use]
    pub fn with_detail(mut self, key: &str, value: Value) -> Self {
        self.details.insert(key.to_owned(), value);
        self
    }

    /// The `aap.error` payload (AAP-527). `details` is left out when empty.
    pub fn to_value(&self, error_id: &str, created_at: &str) -> Value {
        let mut body = Map::new();
        body.insert("type".into(), "aap.error".into());
        body.insert("error_id".into(), error_id.into());
        body.insert("code".into(), self.code.id().into());
        body.insert("message".into(), self.message.as_str().into());
        body.insert("retryable".into(), self.retryable.into());
        if !self.details.is_empty() {
            body.insert("details".into(), Value::Object(self.details.clone()));
        }
        body.insert("created_at".into(), created_at.into());
        Value::Object(body)
    }
}

impl fmt::Display for AapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.id(), self.message)
    }
}

impl std::error::Error for AapError {}
