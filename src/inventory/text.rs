//! What "without case sensitivity" means here: Unicode lowercase, letter by letter. Must not know which
//! fields are compared so.

/// `text` in Unicode lowercase. Letter by letter, so that a part of a word folds as it does in the whole;
/// the Greek final sigma, which only its place distinguishes, folds to the plain one.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c == 'ς' { 'σ' } else { c })
        .collect()
}

/// The tokens of a keyword query, in its order and case, exact duplicates dropped (AAP-406, AAP-408).
pub(super) fn tokens(query: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for token in query.split_whitespace() {
        if !tokens.iter().any(|known| known == token) {
            tokens.push(token.to_owned());
        }
    }
    tokens
}
