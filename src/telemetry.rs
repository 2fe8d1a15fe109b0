//! What the process tells of itself. Here: where logs go, to standard error, as text or JSON lines; below:
//! metrics and spans as values, and their form for a collector. Must not know what is told; whoever tells
//! keeps customer values, tokens and message texts out (`docs/operating.md` names the fields).

pub mod metric;
pub mod otlp;
mod span;
pub mod trace;
mod traceparent;
pub mod work;
mod wire;

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// What is logged when nobody says otherwise: our own events, and others' warnings.
const DEFAULT_FILTER: &str = "warn,forecourt=info";

/// The form of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for machines.
    Json,
}

/// How this process logs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub format: Format,
    /// A filter such as `info` or `forecourt=debug,sqlx=warn`.
    pub filter: Option<String>,
    /// Whether colours are wanted at all; they are used on a terminal only.
    pub colour: bool,
}

/// Why logging could not begin.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    #[error("the log filter is not understood: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    #[error("logging was begun before")]
    Begun,
}

/// Begins logging for this process, of panics, too. To be called once.
pub fn begin(settings: &Settings) -> Result<(), TelemetryError> {
    let filter = settings.filter.as_deref().unwrap_or(DEFAULT_FILTER);
    let filter = EnvFilter::builder().parse(filter)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_span_events(FmtSpan::NONE)
        // Whoever reads the log may go away: a line that cannot be written is lost, and the process goes on. Saying
        // so on the same closed end would be a panic.
        .log_internal_errors(false)
        .with_ansi(settings.colour && io::stderr().is_terminal());
    let begun = match settings.format {
        Format::Text => lines.try_init(),
        Format::Json => lines.json().flatten_event(true).try_init(),
    };
    begun.map_err(|_| TelemetryError::Begun)?;
    std::panic::set_hook(Box::new(tell_panic));
    Ok(())
}

/// A panic's place and never its words: they may repeat what a customer said.
fn tell_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    tracing::error!(place, "panicked; a fault of this program, please report it");
}
