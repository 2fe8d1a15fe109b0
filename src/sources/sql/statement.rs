//! Looks at SQL texts before they are sent: one SELECT, nothing else. A read-only session is the real
//! guard; this one gives the better message, and is the only one where a database has no such session.

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

/// Whose SQL a text is, as far as a look at it depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    SqlServer,
    Other,
}

impl Dialect {
    pub(super) fn of(url: &str) -> Self {
        match url.split(':').next() {
            Some("sqlserver" | "mssql") => Self::SqlServer,
            _ => Self::Other,
        }
    }
}

/// Checks that a text is one statement that reads.
pub(super) fn check(query: &str, dialect: Dialect) -> Result<(), String> {
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

/// A watermark as a SQL literal. It comes from the database itself, and still only a number or what times
/// are written with is let through.
pub(super) fn since(watermark: &str) -> Result<String, String> {
    let harmless =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':' | '.' | '+' | '/' | ' ');
    if watermark.parse::<f64>().is_ok_and(f64::is_finite) {
        return Ok(watermark.to_owned());
    }
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
