//! The end of a conversation with a relay: the text of the mail. From here on silence means "unknown".

use std::fmt;
use std::time::Duration;

use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::Data;

use super::super::Outcome;
use super::reply;

/// How long a relay may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);

/// A conversation that has named its recipients.
pub struct Ready {
    pub(super) connection: AsyncSmtpConnection,
    pub(super) message: Vec<u8>,
    pub(super) timeout: Duration,
}

impl Ready {
    /// Sends the message text.
    pub(in crate::delivery) async fn transmit(mut self) -> Outcome {
        // No text was sent before the relay has answered DATA, so whatever goes wrong here is repeatable.
        let outcome = match self.begin().await {
            Ok(()) => self.send_text().await,
            Err(outcome) => outcome,
        };
        self.leave();
        outcome
    }

    async fn begin(&mut self) -> Result<(), Outcome> {
        match tokio::time::timeout(self.timeout, self.connection.command(Data)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if error.is_permanent() => Err(Outcome::Refused(reply("DATA", &error))),
            Ok(Err(error)) => Err(Outcome::Retry(reply("DATA", &error))),
            Err(_) => Err(Outcome::Retry("DATA: no answer in time".to_owned())),
        }
    }

    async fn send_text(&mut self) -> Outcome {
        match tokio::time::timeout(self.timeout, self.connection.message(&self.message)).await {
            Ok(Ok(response)) => {
                Outcome::Delivered(format!("the relay answered {}", response.code()))
            }
            Ok(Err(error)) if error.is_permanent() => Outcome::Refused(reply("after DATA", &error)),
            Ok(Err(error)) if error.is_transient() => Outcome::Retry(reply("after DATA", &error)),
            Ok(Err(_)) => Outcome::Unknown("the connection was lost after DATA".to_owned()),
            Err(_) => Outcome::Unknown("no answer in time after DATA".to_owned()),
        }
    }

    /// Takes leave without letting the outcome wait for it.
    pub(in crate::delivery) fn leave(mut self) {
        tokio::spawn(async move {
            drop(tokio::time::timeout(GOODBYE, self.connection.abort()).await);
        });
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready")
            .field("bytes", &self.message.len())
            .finish_non_exhaustive()
    }
}
