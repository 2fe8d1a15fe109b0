//! The header `traceparent` (W3C Trace Context), read and written. Must not decide whose trace counts.

use std::fmt::Write as _;

/// An id that a collector knows a trace by.
pub(super) type TraceId = [u8; 16];
/// An id that a collector knows a span by.
pub(super) type SpanId = [u8; 8];

/// Where a caller stands in its own trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub(super) trace_id: TraceId,
    pub(super) span_id: SpanId,
}

impl Parent {
    /// Reads a `traceparent`. Anything else than its exact form is nobody's word.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version = hex::<1>(version)?;
        hex::<1>(flags)?;
        // A later version may have more parts, this one has none (section 3.2.2).
        if version == [0xff] || (version == [0] && parts.next().is_some()) {
            return None;
        }
        let parent = Self {
            trace_id: hex(trace)?,
            span_id: hex(span)?,
        };
        (parent.trace_id != [0; 16] && parent.span_id != [0; 8]).then_some(parent)
    }

    /// The header's text, for a request that is recorded.
    pub(super) fn written(self) -> String {
        let mut text = String::from("00-");
        let mut hex = |bytes: &[u8]| {
            for byte in bytes {
                // Writing to a string cannot fail.
                let _fine = write!(text, "{byte:02x}");
            }
            text.push('-');
        };
        hex(&self.trace_id);
        hex(&self.span_id);
        text.push_str("01");
        text
    }
}

/// Lower-case hexadecimal of exactly `N` bytes.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != N * 2 || !text.as_bytes().iter().all(lower) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// A new one.
pub(super) fn span_id() -> SpanId {
    let [bytes @ .., _, _, _, _, _, _, _, _] = uuid::Uuid::new_v4().into_bytes();
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn only_the_exact_form_is_a_callers_word() {
        let parent = Parent::read(CALLER).unwrap();
        assert_eq!(parent.written(), CALLER);
        assert_eq!(parent.trace_id[..2], [0x0a, 0xf7]);
        assert_eq!(parent.span_id[..2], [0xb7, 0xad]);
        assert!(Parent::read(&CALLER.replacen("00", "cc", 1)).is_some());
        assert!(Parent::read(&format!("{}-more", CALLER.replacen("00", "01", 1))).is_some());
        for wrong in [
            String::new(),
            "kanarienvogel".to_owned(),
            CALLER.to_uppercase(),
            format!("{CALLER}-more"),
            CALLER.replacen("00", "ff", 1),
            CALLER.replace("b7ad6b7169203331", "0000000000000000"),
            CALLER.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            CALLER.replace("0af7", "0ag7"),
            CALLER.replace("-01", "-1"),
            CALLER.replace("b7ad", "é"),
        ] {
            assert_eq!(Parent::read(&wrong), None, "{wrong}");
        }
    }
}
