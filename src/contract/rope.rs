//! Text on its way out: own words and long finished texts, which are shared and not copied. Must not know what
//! it says.

use std::sync::Arc;

use bytes::Bytes;

use super::fragment::{Form, Fragment};

/// A finished text of this many bytes is shared; copying a shorter one costs less.
const SHARED: usize = 4096;

/// A text as a run of chunks.
#[derive(Debug, Default)]
pub struct Rope {
    done: Vec<Bytes>,
    open: String,
}

impl Rope {
    /// An empty text with room for `own` bytes that are not shared.
    pub fn with_capacity(own: usize) -> Self {
        Self {
            done: Vec::new(),
            open: String::with_capacity(own),
        }
    }

    /// Appends a copy of `text`.
    pub fn push(&mut self, text: &str) {
        self.open.push_str(text);
    }

    /// Appends another text.
    pub fn append(&mut self, other: Self) {
        self.close();
        self.done.extend(other.done);
        self.open = other.open;
    }

    /// Appends one form of a fragment.
    pub(super) fn push_fragment(&mut self, fragment: &Arc<Fragment>, form: Form) {
        let text = fragment.form(form);
        if text.len() < SHARED {
            self.open.push_str(text);
            return;
        }
        self.close();
        let fragment = Arc::clone(fragment);
        self.done.push(Bytes::from_owner(Shared { fragment, form }));
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.done.push(std::mem::take(&mut self.open).into());
        }
    }

    /// How many bytes of a fragment's form are copied.
    pub(super) fn copied(fragment: &Fragment, form: Form) -> usize {
        let len = fragment.form(form).len();
        if len < SHARED { len } else { 0 }
    }

    /// The text, in order.
    pub fn into_chunks(mut self) -> Vec<Bytes> {
        self.close();
        self.done
    }

    /// The text as one chunk; copied where it is more.
    pub fn into_bytes(self) -> Bytes {
        let mut chunks = self.into_chunks();
        match (chunks.pop(), chunks.is_empty()) {
            (None, _) => Bytes::new(),
            (Some(only), true) => only,
            (Some(last), false) => {
                chunks.push(last);
                chunks.concat().into()
            }
        }
    }
}

impl From<String> for Rope {
    fn from(text: String) -> Self {
        Self {
            done: Vec::new(),
            open: text,
        }
    }
}

impl From<Bytes> for Rope {
    fn from(chunk: Bytes) -> Self {
        Self {
            done: vec![chunk],
            open: String::new(),
        }
    }
}

/// One form of a fragment, for as long as somebody sends it.
struct Shared {
    fragment: Arc<Fragment>,
    form: Form,
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.fragment.form(self.form).as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_and_fragments_stand_in_their_order_whatever_their_length() {
        for length in [1, SHARED - 3, SHARED - 2, SHARED, 3 * SHARED] {
            let json = format!("\"{}\"", "x".repeat(length));
            let fragment = Arc::new(Fragment::new(json.as_str()));
            let mut inner = Rope::from("<".to_owned());
            inner.push_fragment(&fragment, Form::Escaped);
            inner.push(">");
            let mut rope = Rope::with_capacity(8);
            rope.push("a");
            rope.append(inner);
            rope.push("b");
            rope.push_fragment(&fragment, Form::Json);
            let escaped = json.replace('"', "\\\"");
            let whole = format!("a<{escaped}>b{json}");
            assert_eq!(rope.into_bytes(), whole.as_bytes(), "{length}");
        }
        assert_eq!(Rope::default().into_bytes(), "");
        assert_eq!(Rope::from(Bytes::from_static(b"x")).into_bytes(), "x");
    }

    #[test]
    fn a_long_fragment_is_not_copied() {
        let fragment = Arc::new(Fragment::new("1".repeat(SHARED)));
        let mut rope = Rope::default();
        rope.push_fragment(&fragment, Form::Json);
        let chunks = rope.into_chunks();
        assert_eq!(chunks[0].as_ptr(), fragment.json().as_ptr());
    }
}
