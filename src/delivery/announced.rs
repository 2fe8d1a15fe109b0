//! What a relay announces in answer to EHLO, and what follows for a mail: its size (RFC 1870) and eight-bit text
//! (RFC 6152). Must not talk to anyone.

use lettre::transport::smtp::extension::{MailBodyParameter, MailParameter};

/// The extensions that matter to one mail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Announced {
    /// Sizes may be declared.
    sizes: bool,
    /// The most octets that a mail may have.
    pub(super) limit: Option<usize>,
    pub(super) eight_bit: bool,
}

impl Announced {
    /// Reads the lines of the answer; the first is the relay's greeting.
    pub(super) fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut announced = Self::default();
        for line in lines.skip(1) {
            let mut words = line.split_ascii_whitespace();
            let keyword = words.next().unwrap_or_default();
            if keyword.eq_ignore_ascii_case("SIZE") {
                announced.sizes = true;
                // Zero means that there is no fixed limit.
                let limit = words.next().and_then(|limit| limit.parse().ok());
                announced.limit = limit.filter(|limit| *limit > 0);
            }
            announced.eight_bit |= keyword.eq_ignore_ascii_case("8BITMIME");
        }
        announced
    }

    /// What MAIL says of a mail beside its sender.
    pub(super) fn parameters(self, octets: usize, ascii: bool) -> Vec<MailParameter> {
        let size = self.sizes.then_some(MailParameter::Size(octets));
        let body = MailParameter::Body(MailBodyParameter::EightBitMime);
        let body = (!ascii).then_some(body);
        size.into_iter().chain(body).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_ehlo_is_read_whatever_its_spelling() {
        let read = |lines: &[&str]| Announced::read(lines.iter().copied());
        let nothing = read(&["SIZE.example 8BITMIME SIZE 5", "PIPELINING"]);
        assert_eq!(nothing, Announced::default());
        let all = read(&["relay.example", "size 1000", "8bitmime", ""]);
        assert_eq!((all.limit, all.eight_bit), (Some(1000), true));
        for open in ["SIZE", "SIZE 0", "SIZE many"] {
            let open = read(&["relay.example", open]);
            assert_eq!(open.limit, None);
            assert_eq!(open.parameters(3, true), [MailParameter::Size(3)]);
        }
        assert!(nothing.parameters(3, true).is_empty());
    }
}
