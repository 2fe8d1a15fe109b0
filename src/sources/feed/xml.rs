//! XML feeds: every element of one name is a vehicle. Attributes and child elements become members,
//! repeated ones a list. No entity but XML's own five is expanded, no external thing is read.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Map, Value};

use super::super::Fault;
use super::super::http::Failure;
use super::bytes::Text;
use super::{Emit, Item};

/// Elements inside one another.
const MAX_DEPTH: usize = 32;
/// Members of one vehicle.
const MAX_MEMBERS: usize = 5_000;

/// An element being read.
#[derive(Default)]
struct Open {
    name: String,
    members: Map<String, Value>,
    text: String,
}

pub(super) fn parse(text: Text<'_>, items: &str, emit: Emit<'_>) -> Result<(), Failure> {
    let mut reader = Reader::from_reader(text);
    let mut buffer = Vec::new();
    // Elements from the vehicle down; empty outside of one.
    let mut open: Vec<Open> = Vec::new();
    let (mut depth, mut members, mut found) = (0_usize, 0_usize, false);
    loop {
        buffer.clear();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(event) => event,
            Err(error) => return Err(reader.get_mut().failure(error)),
        };
        match event {
            Event::Start(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err((Fault::Limit, "elements are nested too deeply".to_owned()));
                }
                if !open.is_empty() || name_of(&start) == items {
                    found = true;
                    open.push(begin(&start)?);
                }
            }
            Event::Empty(start) => {
                if !open.is_empty() || name_of(&start) == items {
                    found = true;
                    open.push(begin(&start)?);
                    end(&mut open, &mut members, emit)?;
                }
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                if !open.is_empty() {
                    end(&mut open, &mut members, emit)?;
                }
            }
            Event::Text(part) => append(&mut open, part.as_ref()),
            Event::CData(part) => append(&mut open, part.as_ref()),
            Event::GeneralRef(reference) => append(&mut open, &entity(reference.as_ref())?),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        // Between vehicles nothing is held.
        if open.is_empty() {
            reader.get_ref().row_done();
        }
    }
    if depth > 0 {
        return Err((Fault::Data, "the document ends early".to_owned()));
    }
    if found {
        Ok(())
    } else {
        Err((Fault::Data, format!("there is no element `{items}`")))
    }
}

fn name_of(start: &BytesStart<'_>) -> String {
    start.local_name().as_ref().to_owned()
}

fn begin(start: &BytesStart<'_>) -> Result<Open, Failure> {
    let mut open = Open {
        name: name_of(start),
        ..Open::default()
    };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|e| (Fault::Data, e.to_string()))?;
        let name = attribute.key.local_name().as_ref().to_owned();
        let value = quick_xml::escape::unescape(&attribute.value)
            .map_err(|e| (Fault::Data, e.to_string()))?
            .into_owned();
        open.members.insert(name, Value::String(value));
    }
    Ok(open)
}

fn append(open: &mut [Open], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn entity(name: &str) -> Result<String, Failure> {
    quick_xml::escape::unescape(&format!("&{name};"))
        .map(std::borrow::Cow::into_owned)
        .map_err(|_| (Fault::Data, "an entity that is not XML's own".to_owned()))
}

/// Closes the innermost element: a vehicle goes out, another becomes a member of its parent.
fn end(open: &mut Vec<Open>, members: &mut usize, emit: Emit<'_>) -> Result<(), Failure> {
    let Some(mut element) = open.pop() else {
        return Ok(());
    };
    let text = element.text.trim().to_owned();
    let Some(parent) = open.last_mut() else {
        *members = 0;
        if !text.is_empty() {
            element
                .members
                .insert("text".to_owned(), Value::String(text));
        }
        return emit(Item::Row(element.members));
    };
    *members += 1;
    if *members > MAX_MEMBERS {
        return Err((Fault::Limit, "a vehicle has too many members".to_owned()));
    }
    let value = if element.members.is_empty() {
        Value::String(text)
    } else {
        if !text.is_empty() {
            element
                .members
                .insert("text".to_owned(), Value::String(text));
        }
        Value::Object(element.members)
    };
    match parent.members.get_mut(&element.name) {
        None => {
            parent.members.insert(element.name, value);
        }
        Some(Value::Array(list)) => list.push(value),
        Some(one) => *one = Value::Array(vec![one.take(), value]),
    }
    Ok(())
}
