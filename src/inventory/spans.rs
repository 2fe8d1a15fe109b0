//! A reading as a span: whose it was and how it ended. A source's own words stay in the log. Must not measure.

use super::refresh::{Done, RefreshError};
use crate::telemetry::trace::{Role, Word};
use crate::telemetry::work::Piece;

/// Ends the span of a reading.
pub(super) fn reading(piece: Piece, deployment: &str, result: &Result<Done, RefreshError>) {
    let (outcome, vehicles) = match result {
        Ok(Done::Published(vehicles)) => ("published", Some(*vehicles)),
        Ok(Done::Unchanged) => ("unchanged", None),
        Err(RefreshError::Shrunk { now, .. }) => ("held", Some(*now)),
        Err(RefreshError::Source(_) | RefreshError::Memory(_)) => ("failed", None),
        Err(RefreshError::Mistaken(_)) => ("mistaken", None),
    };
    let attributes = || {
        let mut attributes = vec![
            ("forecourt.deployment", Word::Text(deployment.to_owned())),
            ("forecourt.outcome", Word::Fixed(outcome)),
        ];
        let vehicles = vehicles.and_then(|vehicles| i64::try_from(vehicles).ok());
        attributes.extend(vehicles.map(|count| ("forecourt.vehicles", Word::Number(count))));
        attributes
    };
    piece.end(
        "inventory refresh",
        Role::Internal,
        attributes,
        result.is_err(),
    );
}
