//! What differs between databases in how a statement is read: where comments and quoted texts end. A text that two
//! of them read differently is refused, since it could hide what it does. Must not know what a word does.

use std::iter::Peekable;
use std::str::Chars;

/// Whose SQL a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
    MySql,
    SqlServer,
}

impl Dialect {
    pub(super) fn of(url: &str) -> Self {
        match url.split(':').next() {
            Some("sqlserver" | "mssql") => Self::SqlServer,
            Some("mysql" | "mariadb") => Self::MySql,
            Some("postgres" | "postgresql") => Self::Postgres,
            _ => Self::Sqlite,
        }
    }

    /// What closes a quoted text or name that this opens.
    fn closing(self, open: char) -> Option<char> {
        match open {
            '\'' | '"' => Some(open),
            '`' if matches!(self, Self::MySql | Self::Sqlite) => Some('`'),
            '[' if matches!(self, Self::SqlServer | Self::Sqlite) => Some(']'),
            _ => None,
        }
    }

    /// Whether a backslash may take a quote its meaning.
    fn escapes(self) -> bool {
        matches!(self, Self::MySql | Self::Postgres)
    }
}

/// The statement with comments, quoted texts and quoted names blanked out.
pub(super) fn without_comments_and_texts(query: &str, dialect: Dialect) -> Result<String, String> {
    let mut out = String::with_capacity(query.len());
    let mut chars = query.chars().peekable();
    while let Some(c) = chars.next() {
        let opens_line = match (c, chars.peek()) {
            // MySQL takes two minuses for a comment only before a blank.
            ('-', Some('-')) => dialect != Dialect::MySql || is_blank(chars.clone().nth(1)),
            ('#', _) => dialect == Dialect::MySql,
            _ => false,
        };
        if opens_line {
            let _ends = chars.by_ref().find(|c| *c == '\n');
            out.push(' ');
        } else if c == '/' && chars.peek() == Some(&'*') {
            chars.next();
            comment(&mut chars)?;
            out.push(' ');
        } else if let Some(end) = dialect.closing(c) {
            quoted(&mut chars, end, dialect)?;
            out.push_str(" q ");
        } else if c == '$' && dialect == Dialect::Postgres && !out.ends_with(is_of_a_name) {
            dollar(chars.clone())?;
            out.push(c);
        } else {
            out.push(c);
        }
    }
    Ok(out)
}

fn is_blank(c: Option<char>) -> bool {
    c.is_none_or(|c| c.is_whitespace() || c.is_control())
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Some databases end a comment where the first one within it ends, others go on; MySQL runs one with a `!`.
fn comment(chars: &mut Peekable<Chars<'_>>) -> Result<(), String> {
    let mut text = String::new();
    while !text.ends_with("*/") {
        text.push(chars.next().ok_or("a comment is not closed")?);
        if text.ends_with("/*") || text == "!" || text == "M!" {
            return Err("a comment holds another one, or a command".to_owned());
        }
    }
    Ok(())
}

fn quoted(chars: &mut Peekable<Chars<'_>>, end: char, dialect: Dialect) -> Result<(), String> {
    let mut before = ' ';
    for c in chars.by_ref() {
        if c == end && before == '\\' && dialect.escapes() {
            return Err("a backslash stands before a quote: write the text without".to_owned());
        }
        if c == end {
            return Ok(());
        }
        before = c;
    }
    Err("a quoted text is not closed".to_owned())
}

/// PostgreSQL's `$$` and `$name$` quote what follows.
fn dollar(mut chars: Peekable<Chars<'_>>) -> Result<(), String> {
    match chars.find(|c| !(c.is_alphanumeric() || *c == '_')) {
        Some('$') => Err("a text between dollars: write it in quotes".to_owned()),
        _ => Ok(()),
    }
}
