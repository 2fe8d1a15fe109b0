//! Metrics as values: families of points, read once and written in the form that somebody asks for. Must not
//! know what is counted; labels are ids of the operator's own and words of this program.

use std::fmt::Write as _;

/// All points of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    pub name: &'static str,
    /// What it says, for people.
    pub help: &'static str,
    pub kind: Kind,
    pub points: Vec<Point>,
}

/// How points of one series go together over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows while the process lives.
    Counter,
    Gauge,
    Histogram,
}

/// One series now.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub labels: Vec<(&'static str, String)>,
    pub value: Value,
}

/// What a series stands at.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Whole(i64),
    Real(f64),
    Histogram {
        /// Upper bounds, rising; one more class is above all of them.
        bounds: Vec<f64>,
        /// Of each class alone, not added up.
        classes: Vec<u64>,
        sum: f64,
    },
}

impl Family {
    /// A family without points.
    pub fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self {
            name,
            help,
            kind,
            points: Vec::new(),
        }
    }

    /// Adds a point.
    pub fn add(&mut self, labels: &[(&'static str, &str)], value: Value) {
        let labels = labels
            .iter()
            .map(|(name, text)| (*name, (*text).to_owned()))
            .collect();
        self.points.push(Point { labels, value });
    }

    /// The same for a whole family of one point.
    #[must_use]
    pub fn with(mut self, labels: &[(&'static str, &str)], value: Value) -> Self {
        self.add(labels, value);
        self
    }
}

/// A count; what does not fit stays at the largest.
pub fn whole(count: u64) -> Value {
    Value::Whole(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Families in the text format of Prometheus.
pub fn prometheus(families: &[Family]) -> String {
    let mut text = String::with_capacity(64 * 1024);
    for family in families {
        // Writing to a string cannot fail.
        let _fine = write_family(&mut text, family);
    }
    text
}

fn write_family(text: &mut String, family: &Family) -> std::fmt::Result {
    let Family { name, help, .. } = family;
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")?;
    for point in &family.points {
        match &point.value {
            Value::Whole(count) => writeln!(text, "{name}{} {count}", braces(&point.labels, None))?,
            Value::Real(number) => {
                writeln!(text, "{name}{} {number}", braces(&point.labels, None))?;
            }
            Value::Histogram {
                bounds,
                classes,
                sum,
            } => {
                let mut count = 0;
                let bounds = bounds.iter().map(ToString::to_string);
                let bounds = bounds.chain(std::iter::once("+Inf".to_owned()));
                for (bound, class) in bounds.zip(classes) {
                    count += class;
                    let labels = braces(&point.labels, Some(&bound));
                    writeln!(text, "{name}_bucket{labels} {count}")?;
                }
                let labels = braces(&point.labels, None);
                writeln!(
                    text,
                    "{name}_sum{labels} {sum}\n{name}_count{labels} {count}"
                )?;
            }
        }
    }
    Ok(())
}

fn braces(labels: &[(&'static str, String)], bound: Option<&str>) -> String {
    let bound = bound.map(|bound| ("le", bound));
    let labels = labels.iter().map(|(name, text)| (*name, text.as_str()));
    let pairs: Vec<String> = labels
        .chain(bound)
        .map(|(name, text)| format!("{name}=\"{}\"", escaped(text)))
        .collect();
    if pairs.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", pairs.join(","))
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_written_as_prometheus_reads_them() {
        let counter = Family::new("c_total", Kind::Counter, "Things.")
            .with(&[("a", "x\"\\\n")], whole(3))
            .with(&[], Value::Real(0.5));
        let histogram = Family::new("h", Kind::Histogram, "Times.").with(
            &[("k", "v")],
            Value::Histogram {
                bounds: vec![0.1, 1.0],
                classes: vec![1, 2, 3],
                sum: 4.5,
            },
        );
        let wanted = "# HELP c_total Things.\n# TYPE c_total counter\n\
            c_total{a=\"x\\\"\\\\\\n\"} 3\nc_total 0.5\n\
            # HELP h Times.\n# TYPE h histogram\n\
            h_bucket{k=\"v\",le=\"0.1\"} 1\nh_bucket{k=\"v\",le=\"1\"} 3\nh_bucket{k=\"v\",le=\"+Inf\"} 6\n\
            h_sum{k=\"v\"} 4.5\nh_count{k=\"v\"} 6\n";
        assert_eq!(prometheus(&[counter, histogram]), wanted);
    }
}
