//! Looks at SQL texts before they are sent: one SELECT, nothing else. A read-only session is the real
//! guard; this one gives the better message, and is the only one where a database has no such session.

use super::super::mark::Watermark;
use super::dialect::{Dialect, without_comments_and_texts};

/// Words that change something.
const WRITING: [&str; 15] = [
    "INSERT", "UPDATE", "DELETE", "MERGE", "DROP", "ALTER", "CREATE", "TRUNCATE", "GRANT",
    "REVOKE", "EXEC", "EXECUTE", "CALL", "INTO", "ATTACH",
];

/// What else SQL Server would do in the same batch: its statements need no semicolon between them, and it
/// has no read-only session that would refuse them.
const OF_SQL_SERVER: [&str; 19] = [
    "BACKUP",
    "BULK",
    "COMMIT",
    "DBCC",
    "DECLARE",
    "DENY",
    "DISABLE",
    "ENABLE",
    "KILL",
    "OPENDATASOURCE",
    "OPENQUERY",
    "OPENROWSET",
    "RECONFIGURE",
    "RESTORE",
    "SHUTDOWN",
    "UPDATETEXT",
    "USE",
    "WAITFOR",
    "WRITETEXT",
];

/// Checks that a text is one statement that reads.
pub(super) fn check(query: &str, dialect: Dialect) -> Result<(), String> {
    let bare = without_comments_and_texts(query, dialect)?;
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
    let writes = |word: &str| {
        WRITING.contains(&word) || (dialect == Dialect::SqlServer && OF_SQL_SERVER.contains(&word))
    };
    match words.iter().find(|word| writes(word)) {
        Some(word) => Err(format!(
            "`{word}` does not belong into a query that only reads; quote it if it is a column's name"
        )),
        None => Ok(()),
    }
}

/// A key as a SQL literal. Keys come from listings, so only harmless characters are let through. A quoted number is
/// one to a column of numbers and a text to one of texts, where a bare one fails (PostgreSQL) or also finds `12A`
/// for 12 (MySQL). Only SQLite tells 12 from '12'.
pub(super) fn literal(key: &str, dialect: Dialect) -> Result<String, String> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    if key.is_empty() || key.len() > 64 || !key.chars().all(harmless) {
        return Err("a key for a look-up has 1 to 64 letters, digits or -_.:".to_owned());
    }
    if dialect == Dialect::Sqlite && is_whole(key) {
        return Ok(key.to_owned());
    }
    Ok(format!("'{key}'"))
}

/// A key as all the literals that it may be equal to.
pub(super) fn literals(key: &str, dialect: Dialect) -> Result<String, String> {
    let literal = literal(key, dialect)?;
    if dialect == Dialect::Sqlite && is_whole(key) {
        return Ok(format!("{literal}, '{key}'"));
    }
    Ok(literal)
}

fn is_whole(key: &str) -> bool {
    key.parse::<i64>()
        .is_ok_and(|number| number.to_string() == key)
}

/// A watermark as a SQL literal of the kind that the database gave. It comes from there, and still only a number or
/// what times are written with is let through.
pub(super) fn since(watermark: &Watermark) -> Result<String, String> {
    let harmless =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '+' | '/' | ' ');
    let watermark = match watermark {
        Watermark::Number(number) => return Ok(number.to_string()),
        Watermark::Text(text) => text,
    };
    if watermark.is_empty() || watermark.len() > 64 || !watermark.chars().all(harmless) {
        let words = "the watermark is neither a number nor a time";
        return Err(words.to_owned());
    }
    Ok(format!("'{watermark}'"))
}

/// A query's rows with one of these keys.
pub(super) fn narrowed(query: &str, key: &str, literals: &[String]) -> String {
    let query = query.trim().trim_end_matches(';');
    let literals = literals.join(", ");
    format!("SELECT * FROM (\n{query}\n) AS narrowed WHERE narrowed.{key} IN ({literals})")
}
