//! A parcel as a mail: headers, body, encoding. Must not talk to anyone.

use std::time::{Duration, SystemTime};

use lettre::Message;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, SinglePart};

use super::{Content, MailEncoding, MailLayout, Parcel};

/// The longest line that goes out unencoded (RFC 5322 §2.1.1 allows 998 octets).
const LINE_OCTETS: usize = 900;

/// Who a mail is from and for.
#[derive(Clone, Debug)]
pub(super) struct Correspondents {
    pub(super) from: Mailbox,
    pub(super) to: Vec<Mailbox>,
    /// The domain of `from`: the right side of Message-IDs.
    pub(super) domain: String,
}

/// Writes the mail. Its Message-ID depends on the correlation only, so that every attempt bears the same.
/// `eight_bit`: the way to the receiver carries eight bits.
pub(super) fn compose(
    parcel: &Parcel,
    between: &Correspondents,
    eight_bit: bool,
) -> Result<Message, String> {
    let seconds = u64::try_from(parcel.date.as_second()).unwrap_or_default();
    let mut builder = Message::builder()
        .from(between.from.clone())
        .message_id(Some(format!("<{}@{}>", parcel.correlation, between.domain)))
        .date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        .subject(one_line(&parcel.subject))
        .raw_header(HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".to_owned(),
        ));
    for to in &between.to {
        builder = builder.to(to.clone());
    }
    if let Some(reply_to) = parcel
        .reply_to
        .as_deref()
        .and_then(|address| address.parse().ok())
    {
        builder = builder.reply_to(reply_to);
    }
    let (document, attachment) = match &parcel.content {
        Content::Adf(document) => (document.as_str(), Some("lead.xml")),
        Content::Text(text) => (text.as_str(), None),
    };
    let plain = |text: &str| plain(text, parcel.encoding, eight_bit);
    match (parcel.layout, attachment) {
        (MailLayout::Body, _) | (_, None) => builder.singlepart(plain(document)),
        (MailLayout::Attachment, Some(name)) => {
            let text = "A lead in ADF is attached.\n";
            builder.multipart(
                MultiPart::mixed()
                    .singlepart(plain(text))
                    .singlepart(attached(name, document)),
            )
        }
        (MailLayout::Both, Some(name)) => builder.multipart(
            MultiPart::mixed()
                .singlepart(plain(document))
                .singlepart(attached(name, document)),
        ),
    }
    .map_err(|error| error.to_string())
}

/// A text part: 7bit where it can be, since intakes that read raw mails fail on encoded ones.
fn plain(text: &str, encoding: MailEncoding, eight_bit: bool) -> SinglePart {
    let wrapped = wrap(text, LINE_OCTETS);
    let content_type = if wrapped.is_ascii() {
        "text/plain; charset=us-ascii"
    } else {
        "text/plain; charset=utf-8"
    };
    SinglePart::builder()
        .header(ContentType::parse(content_type).unwrap_or(ContentType::TEXT_PLAIN))
        .body(encode(wrapped, encoding, eight_bit))
}

/// lettre leaves 7bit at the 76th column already; mail allows 998 (RFC 5322 §2.1.1).
fn encode(text: String, encoding: MailEncoding, eight_bit: bool) -> Body {
    let asked = match encoding {
        MailEncoding::QuotedPrintable => Some(ContentTransferEncoding::QuotedPrintable),
        MailEncoding::Base64 => Some(ContentTransferEncoding::Base64),
        MailEncoding::Auto | MailEncoding::EightBit => None,
    };
    if let Some(asked) = asked {
        return Body::new_with_encoding(text, asked).unwrap_or_else(Body::new);
    }
    let carried = text.is_ascii() || (eight_bit && encoding == MailEncoding::EightBit);
    let short = text.lines().all(|line| line.len() <= LINE_OCTETS);
    if !carried || !short || text.contains('\0') {
        return Body::new(text);
    }
    let as_it_is = if text.is_ascii() {
        ContentTransferEncoding::SevenBit
    } else {
        ContentTransferEncoding::EightBit
    };
    let lines: Vec<&str> = text.lines().collect();
    Body::dangerous_pre_encoded(lines.join("\r\n").into_bytes(), as_it_is)
}

fn attached(name: &str, document: &str) -> SinglePart {
    let content_type =
        ContentType::parse("application/xml; charset=utf-8").unwrap_or(ContentType::TEXT_PLAIN);
    Attachment::new(name.to_owned()).body(document.as_bytes().to_vec(), content_type)
}

/// Breaks lines of more than `limit` octets at spaces. In XML a space may always be a line break.
fn wrap(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        if line.len() <= limit {
            out.push_str(line);
            continue;
        }
        let mut column = 0;
        for (at, word) in line.split(' ').enumerate() {
            if at > 0 && column + 1 + word.len() > limit {
                out.push('\n');
                column = 0;
            } else if at > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += word.len();
        }
    }
    out
}

/// A header text without line breaks or other controls.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
