//! Queries whose text one reader takes for something else than another: a mapping comes from a stranger, and what
//! looks like a comment or a text must be one for the database too.

use crate::mapping::Mapping;
use crate::sources::{Settings, Source, sql};

/// What is said of a query, when it is refused.
async fn refused(url: &str, query: &str) -> Option<String> {
    let quoted = serde_json::to_string(query).unwrap();
    let mapping = Mapping::parse(&format!(
        "name = 't'\n[source]\nkind = 'sql'\nquery = {quoted}\nkey = 'id'\n[fields]\nvehicle_id = 'id'\n\
         status = {{ value = 'available' }}\n[updated_at]\nprovenance = 'as_of'\n"
    ))
    .unwrap();
    let settings = Settings::Sql(sql::Settings::new(url));
    let opened = Source::open(settings, mapping.plan()).await;
    opened.err().map(|error| error.words)
}

const SQLITE: &str = "sqlite://dms.sqlite";
const POSTGRES: &str = "postgres://f@dms.example/dms";
const MYSQL: &str = "mysql://f@dms.example/dms";
const SQL_SERVER: &str = "sqlserver://f@dms.example/dms";

#[tokio::test]
async fn nothing_hides_behind_a_quote_or_a_comment() {
    for (url, query) in [
        // A comment that goes on behind the end of the one within it.
        (
            SQL_SERVER,
            "SELECT 1 AS id /* /* */ ' */ DELETE FROM v COMMIT -- '",
        ),
        (
            POSTGRES,
            "SELECT 1 AS id /* /* */ ' */ ; DELETE FROM v; -- '",
        ),
        (MYSQL, "SELECT 1 AS id /*!50000 INTO OUTFILE '/tmp/f' */"),
        (MYSQL, "SELECT 1 AS id /*M!100000 INTO OUTFILE '/tmp/f' */"),
        // Quotes that a backslash takes their meaning.
        (MYSQL, "SELECT '\\'' INTO OUTFILE '/tmp/f' -- '"),
        (MYSQL, "SELECT \"\\\"\" INTO OUTFILE '/tmp/f' -- \""),
        (POSTGRES, "SELECT E'\\''; DELETE FROM v; --'"),
        // Comments and quotes of one database only.
        (MYSQL, "SELECT 1 # '\n INTO OUTFILE '/tmp/f' -- '"),
        (MYSQL, "SELECT 5--1 INTO OUTFILE '/tmp/f'"),
        (POSTGRES, "SELECT $$'$$; DELETE FROM v; --'"),
        (POSTGRES, "SELECT $a$'$a$; DELETE FROM v; --'"),
        (POSTGRES, "SELECT names[']'] , 'x' ; DELETE FROM v; --'"),
        // In the open.
        (SQLITE, "SELECT 1; DELETE FROM v"),
        (SQL_SERVER, "SELECT 1 DELETE FROM v"),
        (SQLITE, "SELECT 'a"),
        (SQLITE, "SELECT 1 /* a"),
    ] {
        assert!(refused(url, query).await.is_some(), "{query}");
    }
}

#[tokio::test]
async fn quoted_words_and_comments_stand_in_nobody_s_way() {
    for (url, query) in [
        (
            SQLITE,
            "SELECT [delete], `update`, \"drop\", 'it''s; DELETE' AS id -- DELETE\n FROM v /* DROP */;",
        ),
        (
            SQL_SERVER,
            "SELECT [delete], \"drop\" AS id FROM v WHERE path LIKE 'C:\\' -- DELETE",
        ),
        (
            POSTGRES,
            "SELECT names[1] AS id, a #> '{b}' FROM v WHERE x = $1 AND a$b$c = 1 -- DELETE",
        ),
        (
            MYSQL,
            "SELECT `delete` AS id, 5--1 AS n FROM v # DELETE\n WHERE note = 'a\\nb' -- DROP",
        ),
    ] {
        assert_eq!(refused(url, query).await, None, "{query}");
    }
}
