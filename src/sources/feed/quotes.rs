//! Watches where quoted cells begin and end in CSV on its way to the parser, which takes everything: text behind a
//! closing quote, and a quote that the file's end leaves open. Must not know rows or columns.

use std::collections::VecDeque;
use std::io::{self, Read};

use super::super::http::Failure;
use super::bytes::Text;

/// Where the last byte stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before a cell.
    Start,
    /// In a cell without quotes.
    Bare,
    Quoted,
    /// Behind a quote that closes the cell, or is the first of two that stand for one.
    Closed,
}

/// CSV on its way.
pub(super) struct Quotes<'a> {
    text: Text<'a>,
    delimiter: u8,
    at: At,
    last: u8,
    passed: u64,
    ended: bool,
    /// Where text stood behind a closing quote.
    broken: VecDeque<u64>,
}

impl<'a> Quotes<'a> {
    pub(super) fn new(text: Text<'a>, delimiter: u8) -> Self {
        Self {
            text,
            delimiter,
            at: At::Start,
            last: b'\n',
            passed: 0,
            ended: false,
            broken: VecDeque::new(),
        }
    }

    pub(super) fn row_done(&mut self) {
        self.text.row_done();
    }

    pub(super) fn failure(&mut self, words: impl std::fmt::Display) -> Failure {
        self.text.failure(words)
    }

    /// Whether a quote was broken in what ends at this byte and was not asked about before.
    pub(super) fn broke_before(&mut self, end: u64) -> bool {
        let mut broke = false;
        while self.broken.front().is_some_and(|at| *at < end) {
            self.broken.pop_front();
            broke = true;
        }
        broke
    }

    /// Whether the file ended within a quoted cell.
    pub(super) fn is_left_open(&self) -> bool {
        self.ended && self.at == At::Quoted
    }

    /// Whether the file ended behind a line, or with the Ctrl-Z of old systems.
    pub(super) fn is_ended_by_a_line(&self) -> bool {
        matches!(self.last, b'\n' | b'\r' | 0x1a)
    }

    fn pass(&mut self, byte: u8) {
        let ends = byte == self.delimiter || byte == b'\n' || byte == b'\r';
        self.at = match (self.at, byte) {
            (At::Quoted, b'"') => At::Closed,
            (At::Start | At::Closed, b'"') | (At::Quoted, _) => At::Quoted,
            _ if ends => At::Start,
            (At::Closed, _) => {
                self.broken.push_back(self.passed);
                At::Bare
            }
            (At::Start | At::Bare, _) => At::Bare,
        };
        self.last = byte;
        self.passed += 1;
    }
}

impl Read for Quotes<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(out)?;
        self.ended |= count == 0 && !out.is_empty();
        for byte in out.iter().take(count) {
            self.pass(*byte);
        }
        Ok(count)
    }
}
