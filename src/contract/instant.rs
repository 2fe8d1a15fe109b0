//! Timestamps as AAP writes them: RFC 3339 with an offset. Must not know the present time.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

/// The instant that an RFC 3339 `date-time` names; `None` when `text` is none. Leap seconds are taken as
/// the second before, years that a [`Timestamp`] cannot hold as its end.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let (date, time) = text.split_at_checked(10)?;
    let date = parse_date(date)?;
    let clock = time.strip_prefix(['T', 't'])?;
    let (clock, tail) = clock.split_at_checked(8)?;
    let (hour, minute, second) = parse_clock(clock)?;
    let (nanosecond, tail) = parse_fraction(tail)?;
    let offset = parse_offset(tail)?;
    if second == 60 && !may_be_leap(hour, minute, offset) {
        return None;
    }
    let civil = DateTime::new(
        date.year(),
        date.month(),
        date.day(),
        hour,
        minute,
        second.min(59),
        nanosecond,
    )
    .ok()?;
    let offset = Offset::from_seconds(offset * 60).ok()?;
    let end = if date.year() > 0 {
        Timestamp::MAX
    } else {
        Timestamp::MIN
    };
    Some(offset.to_timestamp(civil).unwrap_or(end))
}

/// Whether `text` is an RFC 3339 `date-time`.
pub(crate) fn is_date_time(text: &str) -> bool {
    parse(text).is_some()
}

fn parse_date(text: &str) -> Option<Date> {
    let (year, rest) = text.split_at_checked(4)?;
    let (month, day) = rest.strip_prefix('-')?.split_once('-')?;
    let year = i16::try_from(number(year, 4)?).ok()?;
    let month = i8::try_from(number(month, 2)?).ok()?;
    let day = i8::try_from(number(day, 2)?).ok()?;
    Date::new(year, month, day).ok()
}

fn parse_clock(text: &str) -> Option<(i8, i8, i8)> {
    let mut parts = text.split(':');
    let mut next = |limit: i32| {
        let value = number(parts.next()?, 2)?;
        (value <= limit).then(|| i8::try_from(value).ok()).flatten()
    };
    let clock = (next(23)?, next(59)?, next(60)?);
    parts.next().is_none().then_some(clock)
}

/// The fraction in nanoseconds, finer digits left out, and what follows it.
fn parse_fraction(text: &str) -> Option<(i32, &str)> {
    let Some(rest) = text.strip_prefix('.') else {
        return Some((0, text));
    };
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, tail) = rest.split_at_checked(end)?;
    if digits.is_empty() {
        return None;
    }
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    Some((nine.parse().ok()?, tail))
}

/// The offset from UTC in minutes.
fn parse_offset(text: &str) -> Option<i32> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
}

/// Leap seconds come only in the last minute of a UTC day (RFC 3339 appendix D).
fn may_be_leap(hour: i8, minute: i8, offset: i32) -> bool {
    let local = i32::from(hour) * 60 + i32::from(minute);
    (local - offset).rem_euclid(24 * 60) == 24 * 60 - 1
}

/// `text` as a number of exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<i32> {
    let well_formed = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    well_formed.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // AAP-458 AAP-540: an offset is needed, respected and possible.
    #[test]
    fn an_offset_is_needed_and_respected() {
        let noon = parse("2026-10-24T12:00:00Z").unwrap();
        assert_eq!(parse("2026-10-24T07:00:00-05:00"), Some(noon));
        assert_eq!(parse("2026-10-24t12:00:00.000z"), Some(noon));
        assert_eq!(parse("2026-10-24T12:00:00-00:00"), Some(noon));
        for bad in [
            "2026-10-24T12:00:00",
            "2026-10-24",
            "2026-10-24 12:00:00Z",
            "2026-02-29T12:00:00Z",
            "2026-10-24T24:00:00Z",
            "2026-10-24T12:60:00Z",
            "2026-10-24T12:00Z",
            "2026-10-24T12:00:00.Z",
            "2026-10-24T12:00:00+24:00",
            "2026-10-24T12:00:00+23:60",
            "2026-10-24T12:00:00+99:99",
            "2026-13-01T12:00:00Z",
            "12026-10-24T12:00:00Z",
            "2026-10-24T12:00:00\u{ff3a}",
            "2026-10-24T12:00:00+0500",
            "+2026-10-24T12:00:00Z",
            "2026-10-24T12:00:00Z ",
            "",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    // AAP-458: leap seconds come where they can, years end where instants do, and what is written is in UTC.
    #[test]
    fn leap_seconds_and_the_ends_of_time_are_instants() {
        let before = parse("2016-12-31T23:59:59Z");
        assert!(before.is_some());
        assert_eq!(parse("2016-12-31T23:59:60Z"), before);
        assert!(parse("2016-12-31T15:59:60-08:00").is_some());
        for bad in [
            "2016-12-31T12:00:60Z",
            "2016-12-31T23:59:61Z",
            "2016-12-31T23:59:60-08:00",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert_eq!(parse("9999-12-31T23:59:59Z"), Some(Timestamp::MAX));
        assert!(parse("0000-01-01T00:00:00+23:59").is_some());
        let fine = parse("2026-10-24T07:00:00.1234567891-05:00").unwrap();
        assert_eq!(fine.to_string(), "2026-10-24T12:00:00.123456789Z");
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC{0,30}", digits in "[0-9T:.+Z -]{15,30}") {
            let _outcomes = (parse(&text), parse(&digits));
        }

        #[test]
        fn what_is_written_is_read_back(second in -60_000_000_000_i64..250_000_000_000) {
            let instant = Timestamp::from_second(second).unwrap();
            prop_assert_eq!(parse(&instant.to_string()), Some(instant));
        }
    }
}
