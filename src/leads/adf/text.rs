//! Characters: which of them XML may carry, and in which character set a receiver wants them. Must not know
//! elements.

use serde::Deserialize;

/// How characters beyond ASCII are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charset {
    /// As decimal references: every receiver's parser reads them, every transport carries them.
    #[default]
    AsciiNcr,
    #[serde(rename = "utf-8")]
    Utf8,
    /// Latin letters without their marks, typographic signs as ASCII; the rest as references.
    Translit,
}

/// A text as XML 1.0 can carry it: controls and non-characters dropped, every kind of line end as LF.
pub(super) fn clean(text: &str) -> String {
    // XML 1.1 §2.11 takes NEL and LINE SEPARATOR for line ends too, and some readers of 1.0 do the same.
    let text = text
        .replace("\r\n", "\n")
        .replace(['\r', '\u{85}', '\u{2028}'], "\n");
    text.chars()
        .filter(|c| is_xml(*c))
        .collect::<String>()
        .trim()
        .to_owned()
}

/// A text for a field of one line.
pub(super) fn clean_line(text: &str) -> String {
    let text = clean(text);
    text.split(['\n', '\t'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// XML 1.0 §2.2, production Char, without the surrogates that `char` cannot hold.
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Rewrites a finished document for the receiver's character set. Names and markup are ASCII already, so
/// only text changes.
pub(super) fn encode(document: &str, charset: Charset) -> String {
    match charset {
        Charset::Utf8 => document.to_owned(),
        Charset::AsciiNcr => references(document.chars()),
        Charset::Translit => references(document.chars().flat_map(plain)),
    }
}

fn references(text: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    for c in text {
        if c.is_ascii() {
            out.push(c);
        } else {
            out.push_str("&#");
            out.push_str(&u32::from(c).to_string());
            out.push(';');
        }
    }
    out
}

/// ASCII characters that stand for `c`, or `c` itself. None of them is markup.
fn plain(c: char) -> impl Iterator<Item = char> {
    let text = match c {
        'À'..='Å' => "A",
        'à'..='å' => "a",
        'Ç' => "C",
        'ç' => "c",
        'È'..='Ë' => "E",
        'è'..='ë' => "e",
        'Ì'..='Ï' => "I",
        'ì'..='ï' => "i",
        'Ñ' => "N",
        'ñ' => "n",
        'Ò'..='Ö' | 'Ø' => "O",
        'ò'..='ö' | 'ø' => "o",
        'Ù'..='Ü' => "U",
        'ù'..='ü' => "u",
        'Ý' => "Y",
        'ý' | 'ÿ' => "y",
        'Æ' => "AE",
        'æ' => "ae",
        'Œ' => "OE",
        'œ' => "oe",
        'ß' => "ss",
        '\u{2018}' | '\u{2019}' => "'",
        '\u{201C}' | '\u{201D}' => "\"",
        '\u{2013}' | '\u{2014}' => "-",
        '\u{2026}' => "...",
        '\u{A0}' | '\u{202F}' => " ",
        other => return vec![other].into_iter(),
    };
    text.chars().collect::<Vec<_>>().into_iter()
}
