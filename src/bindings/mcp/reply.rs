//! An answer on its way out: status, body, the headers that go with it. Must not decide any of them.

use http::{HeaderValue, Response, StatusCode};

use super::accept::Format;
use super::answer;
use super::ingress::Refused;
use super::jsonrpc::{self, Fault, Id};
use crate::bindings::access;
use crate::contract::Rope;
use crate::oauth::Challenge;

/// An answer before its encoding is chosen.
#[derive(Debug)]
pub(super) struct Reply {
    status: u16,
    body: Option<Rope>,
    session: Option<HeaderValue>,
    challenge: Option<Challenge>,
}

impl Reply {
    pub(super) fn ok(body: impl Into<Rope>) -> Self {
        Self {
            status: 200,
            body: Some(body.into()),
            session: None,
            challenge: None,
        }
    }

    pub(super) fn accepted() -> Self {
        Self {
            status: 202,
            body: None,
            session: None,
            challenge: None,
        }
    }

    pub(super) fn fault(status: u16, fault: &Fault) -> Self {
        Self {
            status,
            body: Some(fault.to_json().into()),
            session: None,
            challenge: None,
        }
    }

    pub(super) fn refused(refused: Refused, id: Id) -> Self {
        tracing::info!(code = refused.code, reason = %refused.message, "mcp ingress refused");
        let mut fault = Fault::new(Some(id), refused.code, refused.message);
        fault.data = refused.data;
        Self::fault(refused.status, &fault)
    }

    /// A skill that the caller's credentials do not cover; nothing was run (AAP-099, AAP-100).
    pub(super) fn challenged(challenge: Challenge, id: Id) -> Self {
        let fault = Fault::new(Some(id), jsonrpc::INVALID_REQUEST, challenge.message);
        Self {
            challenge: Some(challenge),
            ..Self::fault(200, &fault)
        }
    }

    pub(super) fn with_session(mut self, session: Option<HeaderValue>) -> Self {
        self.session = session;
        self
    }

    pub(super) fn encode(self, format: Format) -> Response<Rope> {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut answer = match self.body {
            None => {
                let mut empty = Response::new(Rope::default());
                *empty.status_mut() = status;
                empty
            }
            Some(body) => match format {
                Format::EventStream if status == StatusCode::OK && self.challenge.is_none() => {
                    answer::event(body)
                }
                Format::Json | Format::EventStream => answer::json(status, body),
            },
        };
        if let Some(session) = self.session {
            answer.headers_mut().insert("mcp-session-id", session);
        }
        match self.challenge {
            Some(challenge) => access::challenge(answer, &challenge, "mcp"),
            None => answer,
        }
    }
}

pub(super) fn invalid(id: Id, message: &str) -> Reply {
    Reply::fault(200, &Fault::new(Some(id), jsonrpc::INVALID_PARAMS, message))
}

/// A refusal of the transport: an error of JSON-RPC form without an id, since none was read.
pub fn refusal(status: StatusCode, message: &str) -> Response<Rope> {
    let fault = Fault::new(None, jsonrpc::INVALID_REQUEST, message);
    answer::json(status, fault.to_json())
}
