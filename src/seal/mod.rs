//! The key ring: seals and opens what clients carry for us (cursors, tokens, nonces) and what lies at
//! rest. Must not know what the sealed bytes mean.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

/// Bytes of one key.
const KEY_BYTES: usize = 32;
/// Bytes of a key's public name in front of each sealed text.
const NAME_BYTES: usize = 4;

/// Keys in order: the first seals, all open. Rotation adds a new first key; replicas share the file.
pub struct KeyRing {
    keys: Vec<Key>,
}

struct Key {
    /// Derived from the key, so that a sealed text tells which key opens it without trying all.
    name: [u8; NAME_BYTES],
    secret: Zeroizing<[u8; KEY_BYTES]>,
    /// The ciphers that were asked for; purposes are this program's own words, so they are few.
    ciphers: RwLock<BTreeMap<&'static str, Arc<LessSafeKey>>>,
}

/// Why a key ring could not be read, made or used.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error("key file {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("key file {path}, line {line}: not 32 bytes in base64")]
    BadKey { path: PathBuf, line: usize },
    #[error("key file {path} holds no key")]
    NoKey { path: PathBuf },
    #[error("the cryptography library failed")]
    Crypto,
}

impl KeyRing {
    /// A ring with one fresh random key, kept nowhere.
    pub fn generate() -> Result<Self, SealError> {
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        rand::fill(secret.as_mut()).map_err(|_| SealError::Crypto)?;
        Ok(Self {
            keys: vec![Key::new(secret)?],
        })
    }

    /// Reads a key file: one base64 key a line, the sealing key first; blank and `#` lines are skipped.
    pub fn read(path: &Path) -> Result<Self, SealError> {
        let file = |source| SealError::File {
            path: path.to_owned(),
            source,
        };
        let text = Zeroizing::new(fs::read_to_string(path).map_err(file)?);
        let mut keys = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = || SealError::BadKey {
                path: path.to_owned(),
                line: index + 1,
            };
            let bytes = Zeroizing::new(STANDARD.decode(line).map_err(|_| bad())?);
            let secret = <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).map_err(|_| bad())?;
            keys.push(Key::new(Zeroizing::new(secret))?);
        }
        if keys.is_empty() {
            return Err(SealError::NoKey {
                path: path.to_owned(),
            });
        }
        Ok(Self { keys })
    }

    /// Reads the key file, or makes one (readable by its owner only) when there is none.
    pub fn read_or_create(path: &Path) -> Result<Self, SealError> {
        match fs::exists(path) {
            Ok(true) => Self::read(path),
            Ok(false) => {
                let ring = Self::generate()?;
                ring.create_file(path)?;
                Ok(ring)
            }
            Err(source) => Err(SealError::File {
                path: path.to_owned(),
                source,
            }),
        }
    }

    fn create_file(&self, path: &Path) -> Result<(), SealError> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut text = Zeroizing::new(String::from(
            "# Forecourt keys: the first seals, all open.\n",
        ));
        for key in &self.keys {
            text.push_str(&STANDARD.encode(key.secret.as_ref()));
            text.push('\n');
        }
        fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
                keep_name(path)
            })
            .map_err(|source| SealError::File {
                path: path.to_owned(),
                source,
            })
    }

    /// Seals `plain` for one purpose. `context` must be given again to open it; it is not in the text.
    /// The result is base64url without padding.
    pub fn seal(
        &self,
        purpose: &'static str,
        context: &[u8],
        plain: &[u8],
    ) -> Result<String, SealError> {
        let key = self.keys.first().ok_or(SealError::Crypto)?;
        let mut nonce = [0; NONCE_LEN];
        rand::fill(&mut nonce).map_err(|_| SealError::Crypto)?;
        let mut sealed = plain.to_vec();
        key.cipher(purpose)?
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(context),
                &mut sealed,
            )
            .map_err(|_| SealError::Crypto)?;
        let mut text = Vec::with_capacity(NAME_BYTES + NONCE_LEN + sealed.len());
        text.extend_from_slice(&key.name);
        text.extend_from_slice(&nonce);
        text.extend_from_slice(&sealed);
        Ok(URL_SAFE_NO_PAD.encode(text))
    }

    /// Opens a sealed text; `None` for anything altered, foreign, or of another purpose or context.
    pub fn open(&self, purpose: &'static str, context: &[u8], text: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (name, rest) = bytes.split_at_checked(NAME_BYTES)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN)?;
        let nonce = <[u8; NONCE_LEN]>::try_from(nonce).ok()?;
        let key = self.keys.iter().find(|key| key.name == name)?;
        let mut sealed = sealed.to_vec();
        let plain = key
            .cipher(purpose)
            .ok()?
            .open_in_place(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(context),
                &mut sealed,
            )
            .ok()?;
        Some(plain.to_vec())
    }

    /// Puts these keys in the place of the file's, at once or not at all.
    pub fn replace_file(&self, path: &Path) -> Result<(), SealError> {
        let mut new = path.as_os_str().to_owned();
        new.push(".new");
        let new = PathBuf::from(new);
        self.create_file(&new)?;
        let renamed = fs::rename(&new, path).and_then(|()| keep_name(path));
        renamed.map_err(|source| SealError::File {
            path: path.to_owned(),
            source,
        })
    }

    /// Writes these keys into a new file; one that is there is an error.
    pub fn write_new(&self, path: &Path) -> Result<(), SealError> {
        self.create_file(path)
    }

    /// Keeps the first `count` keys.
    pub fn forget_after(&mut self, count: usize) {
        self.keys.truncate(count);
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key, which no reading yields.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// A new ring with a fresh first key in front of these: what rotation writes.
    pub fn rotated(self) -> Result<Self, SealError> {
        let mut keys = Self::generate()?.keys;
        keys.extend(self.keys);
        Ok(Self { keys })
    }
}

impl Key {
    fn new(secret: Zeroizing<[u8; KEY_BYTES]>) -> Result<Self, SealError> {
        let mut name = [0; NAME_BYTES];
        derive(secret.as_ref(), b"name", &mut name)?;
        Ok(Self {
            name,
            secret,
            ciphers: RwLock::default(),
        })
    }

    /// The cipher of one purpose: each purpose has a key of its own, so a text of one never opens as another.
    fn cipher(&self, purpose: &'static str) -> Result<Arc<LessSafeKey>, SealError> {
        let known = self.ciphers.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(cipher) = known.get(purpose) {
            return Ok(Arc::clone(cipher));
        }
        drop(known);
        let cipher = Arc::new(self.derived(purpose)?);
        let mut known = self.ciphers.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(known.entry(purpose).or_insert(cipher)))
    }

    fn derived(&self, purpose: &str) -> Result<LessSafeKey, SealError> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        derive(self.secret.as_ref(), purpose.as_bytes(), key.as_mut())?;
        let key = UnboundKey::new(&AES_256_GCM, key.as_ref()).map_err(|_| SealError::Crypto)?;
        Ok(LessSafeKey::new(key))
    }
}

/// Makes a file's name outlast a power failure: what was sealed meanwhile would be unreadable without it.
fn keep_name(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

struct OutputLen(usize);

impl KeyType for OutputLen {
    fn len(&self) -> usize {
        self.0
    }
}

/// HKDF-SHA256 (RFC 5869) with the purpose as its info.
fn derive(secret: &[u8], purpose: &[u8], out: &mut [u8]) -> Result<(), SealError> {
    Salt::new(HKDF_SHA256, b"forecourt key ring")
        .extract(secret)
        .expand(&[purpose], OutputLen(out.len()))
        .and_then(|okm| okm.fill(out))
        .map_err(|_| SealError::Crypto)
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing")
            .field("keys", &self.keys.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
