//! `Content-Type` and `Accept` (RFC 9110 §8.3, §12.5.1). Must not refuse; it says what is possible.

use http::{HeaderMap, header};

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    /// One server-sent event that holds the answer, for clients that accept nothing else.
    EventStream,
}

/// Whether the body is declared as JSON, with any parameters.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return false;
    };
    let essence = line.to_str().ok().and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// The format for these `Accept` lines: JSON wherever it is accepted (AAP-068), `None` when nothing is.
pub(super) fn format(headers: &HeaderMap) -> Option<Format> {
    let ranges = || {
        let lines = headers.get_all(header::ACCEPT).iter();
        lines.flat_map(|line| line.to_str().unwrap_or_default().split(','))
    };
    if ranges().all(|range| range.trim_matches([' ', '\t']).is_empty()) {
        return Some(Format::Json);
    }
    if accepts(ranges(), "application", "json") {
        Some(Format::Json)
    } else if accepts(ranges(), "text", "event-stream") {
        Some(Format::EventStream)
    } else {
        None
    }
}

/// Whether the most specific range that covers the type has a weight above zero.
fn accepts<'a>(ranges: impl Iterator<Item = &'a str>, kind: &str, subtype: &str) -> bool {
    let mut best: Option<(u8, bool)> = None;
    for range in ranges {
        let mut parts = range.split(';').map(str::trim);
        let Some((range_kind, range_subtype)) = parts.next().and_then(|name| name.split_once('/'))
        else {
            continue;
        };
        let specificity = match (range_kind, range_subtype) {
            ("*", "*") => 0,
            (k, "*") if k.eq_ignore_ascii_case(kind) => 1,
            (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => 2,
            _ => continue,
        };
        let wanted = parts.all(|parameter| !is_zero_weight(parameter));
        best = match best {
            Some((known, or)) if known == specificity => Some((known, or || wanted)),
            Some((known, _)) if known > specificity => best,
            _ => Some((specificity, wanted)),
        };
    }
    best.is_some_and(|(_, wanted)| wanted)
}

fn is_zero_weight(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    name.trim().eq_ignore_ascii_case("q") && value.trim().parse::<f32>() == Ok(0.0)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn chosen(accept: &[&'static str]) -> Option<Format> {
        let mut headers = HeaderMap::new();
        for line in accept {
            headers.append(header::ACCEPT, HeaderValue::from_static(line));
        }
        format(&headers)
    }

    // AAP-068 AAP-069 AAP-128
    #[test]
    fn json_wherever_it_is_accepted() {
        for accept in [
            &[][..],
            &[""],
            &["*/*"],
            &["application/*"],
            &["application/json"],
            &["application/json, text/event-stream"],
            &["text/event-stream, application/json"],
            &["text/event-stream;q=1.0, application/json;q=0.1"],
            &["text/event-stream", "APPLICATION/JSON ; q=0.5"],
            &["text/html;q=0, */*;q=0.1"],
        ] {
            assert_eq!(chosen(accept), Some(Format::Json), "{accept:?}");
        }
    }

    // AAP-070
    #[test]
    fn exclusions_are_honoured() {
        for accept in [
            "application/json;q=0",
            "text/html",
            "*/*;q=0",
            "application/json; q=0.0, text/*;q=0",
            "nonsense",
        ] {
            assert_eq!(chosen(&[accept]), None, "{accept}");
        }
        for accept in [
            "text/event-stream",
            "text/*",
            "application/json;q=0, */*",
            "application/*;q=0, text/event-stream;q=0.2",
        ] {
            assert_eq!(chosen(&[accept]), Some(Format::EventStream), "{accept}");
        }
    }

    // AAP-067
    #[test]
    fn the_media_type_of_the_body_may_have_parameters_and_any_case() {
        let with = |value: &'static str| {
            HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(value))])
        };
        assert!(is_json(&with("application/json")));
        assert!(is_json(&with("Application/JSON; charset=utf-8")));
        assert!(!is_json(&with("text/plain")));
        assert!(!is_json(&with("application/jsonp")));
        assert!(!is_json(&HeaderMap::new()));
    }
}
