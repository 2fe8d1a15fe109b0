//! An SMTP server for tests that misbehaves on order and counts what it really got.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

/// What the server does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Answers EHLO with these lines.
    Announces(&'static str),
    /// Hears EHLO once only.
    OneHello,
    /// Answers a command (by its verb) with this line.
    Answer(&'static str, &'static str),
    /// Answers a command (by its verb) only when it is told to go on.
    WaitsAt(&'static str),
    /// Answers the message text with this line.
    AnswerText(&'static str),
    /// Takes the whole text and goes away without a word.
    DropAfterText,
    /// Takes the whole text and stays silent.
    SilentAfterText,
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    heard: Arc<Heard>,
    fault: Arc<Mutex<Fault>>,
}

/// What clients said.
#[derive(Debug, Default)]
struct Heard {
    mails: Mutex<Vec<String>>,
    commands: Mutex<Vec<String>>,
    go_on: tokio::sync::Notify,
}

impl Scripted {
    pub(crate) async fn start(fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::serve(listener, fault, None, false)
    }

    /// Offers STARTTLS with this configuration, or speaks TLS at once.
    pub(crate) async fn start_tls(tls: rustls::ServerConfig, at_once: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::serve(listener, Fault::None, Some(Arc::new(tls)), at_once)
    }

    fn serve(
        listener: TcpListener,
        fault: Fault,
        tls: Option<Arc<rustls::ServerConfig>>,
        at_once: bool,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Heard::default());
        let fault = Arc::new(Mutex::new(fault));
        let (kept, order) = (Arc::clone(&heard), Arc::clone(&fault));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (heard, fault, tls) = (Arc::clone(&kept), *order.lock().unwrap(), tls.clone());
                tokio::spawn(async move {
                    let Some(tls) = tls else {
                        greet(&mut stream).await;
                        return talk(&mut stream, fault, &heard, false).await;
                    };
                    if !at_once {
                        greet(&mut stream).await;
                        talk(&mut stream, fault, &heard, true).await;
                    }
                    let accepted = tokio_rustls::TlsAcceptor::from(tls).accept(stream).await;
                    if let Ok(mut stream) = accepted {
                        if at_once {
                            greet(&mut stream).await;
                        }
                        talk(&mut stream, fault, &heard, false).await;
                    }
                });
            }
        });
        Self {
            address,
            heard,
            fault,
        }
    }

    /// The mails whose text arrived whole, whatever was answered.
    pub(crate) fn mails(&self) -> Vec<String> {
        self.heard.mails.lock().unwrap().clone()
    }

    /// The commands of all conversations.
    pub(crate) fn commands(&self) -> Vec<String> {
        self.heard.commands.lock().unwrap().clone()
    }

    /// Ends the wait of [`Fault::WaitsAt`].
    pub(crate) fn go_on(&self) {
        self.heard.go_on.notify_one();
    }

    /// What new conversations meet.
    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }
}

async fn greet<S: AsyncWrite + Unpin>(stream: &mut S) {
    stream.write_all(b"220 scripted\r\n").await.ok();
}

/// Takes a mail's text, and gives what is answered to it; nothing where the conversation ends there.
async fn take_text<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut BufReader<S>,
    fault: Fault,
    heard: &Heard,
) -> Option<&'static str> {
    stream.write_all(b"354 go ahead\r\n").await.ok();
    let mut text = String::new();
    while !text.ends_with("\r\n.\r\n") {
        if stream.read_line(&mut text).await.unwrap_or(0) == 0 {
            return None;
        }
    }
    heard.mails.lock().unwrap().push(text);
    match fault {
        Fault::DropAfterText => None,
        Fault::SilentAfterText => std::future::pending().await,
        Fault::AnswerText(reply) => Some(reply),
        Fault::None
        | Fault::Announces(_)
        | Fault::OneHello
        | Fault::WaitsAt(_)
        | Fault::Answer(..) => Some("250 taken"),
    }
}

impl Heard {
    /// Keeps a command and gives its verb back, at once or when the fault lets it.
    async fn hear(&self, line: &str, fault: Fault) -> String {
        self.commands.lock().unwrap().push(line.trim().to_owned());
        let verb = line.trim().split(' ').next().unwrap_or_default();
        if matches!(fault, Fault::WaitsAt(which) if which == verb) {
            self.go_on.notified().await;
        }
        verb.to_owned()
    }
}

/// One conversation; with `starttls` it ends when the client asks for TLS.
async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    fault: Fault,
    heard: &Heard,
    starttls: bool,
) {
    let mut stream = BufReader::new(stream);
    let mut greeted = false;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        let verb = heard.hear(&line, fault).await;
        let reply = match (fault, verb.as_str()) {
            (Fault::Answer(which, reply), verb) if which == verb => reply,
            (Fault::Announces(lines), "EHLO") => lines,
            (Fault::OneHello, "EHLO") if greeted => "503 bad sequence",
            (Fault::OneHello, "EHLO") => {
                greeted = true;
                "250-scripted\r\n250 SIZE 10"
            }
            (_, "EHLO") if starttls => "250-scripted\r\n250 STARTTLS",
            (_, "STARTTLS") if starttls => {
                stream.write_all(b"220 go ahead\r\n").await.ok();
                return;
            }
            (_, "DATA") => match take_text(&mut stream, fault, heard).await {
                Some(reply) => reply,
                None => return,
            },
            (_, "QUIT") => {
                stream.write_all(b"221 bye\r\n").await.ok();
                return;
            }
            _ => "250 fine",
        };
        if stream
            .write_all(format!("{reply}\r\n").as_bytes())
            .await
            .is_err()
        {
            return;
        }
    }
}
