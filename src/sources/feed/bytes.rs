//! Unpacked bytes as UTF-8 text, piece by piece: decoded, bounded in whole and per row. Must not know what
//! the text means.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use encoding_rs::{Decoder, DecoderResult, UTF_8, WINDOWS_1252};

use crate::mapping::plan::Encoding;

use super::super::Fault;
use super::super::http::Failure;
use super::Settings;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// What was read since the last whole row.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowance(Rc<Cell<usize>>);

impl Allowance {
    /// A row is complete: the next one has the whole allowance again.
    pub(super) fn row_done(&self) {
        self.0.set(0);
    }

    fn spend(&self, bytes: usize) -> usize {
        self.0.set(self.0.get() + bytes);
        self.0.get()
    }
}

/// Decoded text with limits.
pub(super) struct Text<'a> {
    raw: &'a mut (dyn Read + Send),
    decoder: Decoder,
    input: Vec<u8>,
    /// Input bytes not decoded yet.
    rest: usize,
    output: String,
    at: usize,
    ended: bool,
    total: u64,
    max_total: u64,
    since_row: Allowance,
    max_row: usize,
    failure: Option<Failure>,
}

impl<'a> Text<'a> {
    pub(super) fn new(
        raw: &'a mut (dyn Read + Send),
        limits: &Settings,
        encoding: Encoding,
    ) -> Self {
        let encoding = match encoding {
            Encoding::Utf8 => UTF_8,
            // What calls itself Latin-1 is Windows-1252 in practice, and that holds Latin-1's letters.
            Encoding::Windows1252 | Encoding::Latin1 => WINDOWS_1252,
        };
        Self {
            raw,
            decoder: encoding.new_decoder(),
            input: vec![0; CHUNK],
            rest: 0,
            output: String::with_capacity(3 * CHUNK),
            at: 0,
            ended: false,
            total: 0,
            max_total: limits.max_bytes,
            since_row: Allowance::default(),
            max_row: limits.max_row_bytes,
            failure: None,
        }
    }

    /// A row is complete: the next one has the whole allowance again.
    pub(super) fn row_done(&self) {
        self.since_row.row_done();
    }

    /// The same for whoever has lent this text to a parser.
    pub(super) fn allowance(&self) -> Allowance {
        self.since_row.clone()
    }

    /// What went wrong below, rather than the parser's words about it.
    pub(super) fn failure(&mut self, words: impl std::fmt::Display) -> Failure {
        self.failure
            .take()
            .unwrap_or_else(|| (Fault::Data, words.to_string()))
    }

    fn fail(&mut self, fault: Fault, words: &str) -> io::Error {
        self.failure = Some((fault, words.to_owned()));
        io::Error::other(words.to_owned())
    }

    fn refill(&mut self) -> io::Result<()> {
        self.output.clear();
        self.at = 0;
        while self.output.is_empty() && !self.ended {
            let free = self.input.get_mut(self.rest..).unwrap_or_default();
            let read = match self.raw.read(free) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let words = format!(
                        "the file ends early or is damaged: {error}; let it be sent again, whole"
                    );
                    return Err(self.fail(Fault::Data, &words));
                }
            };
            self.total += read as u64;
            if self.total > self.max_total {
                return Err(self.fail(Fault::Limit, "the file has more bytes than max_bytes"));
            }
            self.decode(self.rest + read, read == 0)?;
        }
        // A chunk may hold the end of one row and the beginning of the next.
        if self.since_row.spend(self.output.len()) > self.max_row + 2 * CHUNK * 3 {
            return Err(self.fail(Fault::Limit, "a row has more bytes than max_row_bytes"));
        }
        Ok(())
    }

    fn decode(&mut self, length: usize, last: bool) -> io::Result<()> {
        let available = self.input.get(..length).unwrap_or_default();
        let (result, used) =
            self.decoder
                .decode_to_string_without_replacement(available, &mut self.output, last);
        if let DecoderResult::Malformed(..) = result {
            let words = "the file is not valid in its encoding; state `encoding = \"windows-1252\"` if it is that";
            return Err(self.fail(Fault::Data, words));
        }
        self.input.copy_within(used..length, 0);
        self.rest = length - used;
        self.ended = last && self.rest == 0;
        Ok(())
    }
}

impl Read for Text<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(out.len());
        if let (Some(to), Some(from)) = (out.get_mut(..count), available.get(..count)) {
            to.copy_from_slice(from);
        }
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Text<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.output.len() && !self.ended {
            self.refill()?;
        }
        Ok(self.output.as_bytes().get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}
