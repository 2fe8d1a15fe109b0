//! Looks at SQL texts before they are sent: one SELECT, nothing else. A read-only session is the real
//! guard; this one gives the better message, and is the only one where a database has no such session.

/// Words that change something.
const WRITING: [&str; 15] = [
    "INSERT", "UPDATE", "DELETE", "MERGE", "DROP", "ALTER", "CREATE", "TRUNCATE", "GRANT",
    "REVOKE", "EXEC", "EXECUTE", "CALL", "INTO", "ATTACH",
];

/// Checks that a text is one statement that reads.
pub(super) fn check(query: &str) -> Result<(), String> {
    let bare = without_comments_and_texts(query)?;
    let statement = bare.trim().trim_end_matches(';').trim();
    if statement.is_empty() {
        return Err("the query is empty".to_owned());
    }
    if statement.contains(';') {
        return Err("a query is one statement".to_owned());
    }
    let words: Vec<String> = statement
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_uppercase)
        .collect();
    match words.first().map(String::as_str) {
        Some("SELECT" | "WITH" | "VALUES") => {}
        _ => return Err("a query begins with SELECT or WITH".to_owned()),
    }
    match words.iter().find(|word| WRITING.contains(&word.as_str())) {
        Some(word) => Err(format!(
            "`{word}` does not belong into a query that only reads; quote it if it is a column's name"
        )),
        None => Ok(()),
    }
}

/// The statement with comments, quoted texts and quoted names blanked out.
fn without_comments_and_texts(query: &str) -> Result<String, String> {
    let mut out = String::with_capacity(query.len());
    let mut chars = query.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('-', Some('-')) => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
                out.push(' ');
            }
            ('/', Some('*')) => {
                chars.next();
                let mut last = ' ';
                let closed = chars.by_ref().any(|c| {
                    let ends = last == '*' && c == '/';
                    last = c;
                    ends
                });
                if !closed {
                    return Err("a comment is not closed".to_owned());
                }
                out.push(' ');
            }
            ('\'' | '"' | '`' | '[', _) => {
                let end = if c == '[' { ']' } else { c };
                if !chars.by_ref().any(|c| c == end) {
                    return Err("a quoted text is not closed".to_owned());
                }
                out.push_str(" q ");
            }
            _ => out.push(c),
        }
    }
    Ok(out)
}

/// A key as a SQL literal. Keys come from listings, so only harmless characters are let through.
pub(super) fn literal(key: &str) -> Result<String, String> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    if key.is_empty() || key.len() > 64 || !key.chars().all(harmless) {
        return Err("a key for a look-up has 1 to 64 letters, digits or -_.:".to_owned());
    }
    if key
        .parse::<i64>()
        .is_ok_and(|number| number.to_string() == key)
    {
        return Ok(key.to_owned());
    }
    Ok(format!("'{key}'"))
}

/// A query's rows with one key.
pub(super) fn narrowed(query: &str, key: &str, literal: &str) -> String {
    let query = query.trim().trim_end_matches(';');
    format!("SELECT * FROM (\n{query}\n) AS narrowed WHERE narrowed.{key} = {literal}")
}
