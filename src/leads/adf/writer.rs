//! Writes a prospect as an ADF document: elements in the order of the DTD, text escaped once, nothing empty.
//! Must not decide what is said.

use std::io;

use quick_xml::Writer;
use quick_xml::escape::partial_escape;
use quick_xml::events::{BytesDecl, BytesPI, BytesText, Event};

use super::model::{
    Address, Customer, Id, Interest, NamePart, Prospect, Provider, Reachable, Status, Transmission,
    Vehicle, Vendor,
};
use super::text::{Charset, clean, clean_line, encode};

/// The finished document.
pub(super) fn write(prospect: &Prospect, charset: Charset) -> io::Result<String> {
    let mut page = Page(Writer::new_with_indent(Vec::new(), b' ', 2));
    page.0
        .write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    page.0
        .write_event(Event::PI(BytesPI::new("adf version=\"1.0\"")))?;
    page.within("adf", &[], |page| {
        page.within("prospect", &[], |page| page.prospect(prospect))
    })?;
    let document = String::from_utf8(page.0.into_inner()).map_err(io::Error::other)?;
    let mut document = encode(&document, charset);
    document.push('\n');
    Ok(document)
}

type Attributes<'a> = &'a [(&'a str, &'a str)];

struct Page(Writer<Vec<u8>>);

impl Page {
    fn prospect(&mut self, prospect: &Prospect) -> io::Result<()> {
        self.ids(prospect.id.as_slice())?;
        self.line("requestdate", &[], &prospect.request_date)?;
        for vehicle in &prospect.vehicles {
            self.vehicle(vehicle)?;
        }
        self.within("customer", &[], |page| page.customer(&prospect.customer))?;
        self.within("vendor", &[], |page| page.vendor(&prospect.vendor))?;
        self.within("provider", &[], |page| page.provider(&prospect.provider))
    }

    fn vehicle(&mut self, vehicle: &Vehicle) -> io::Result<()> {
        let mut attributes = vec![(
            "interest",
            match vehicle.interest {
                Interest::Buy => "buy",
                Interest::TestDrive => "test-drive",
                Interest::TradeIn => "trade-in",
            },
        )];
        if let Some(status) = vehicle.status {
            attributes.push(("status", if status == Status::New { "new" } else { "used" }));
        }
        self.within("vehicle", &attributes, |page| page.vehicle_parts(vehicle))
    }

    fn vehicle_parts(&mut self, vehicle: &Vehicle) -> io::Result<()> {
        self.line("year", &[], &vehicle.year)?;
        self.line("make", &[], &vehicle.make)?;
        self.line("model", &[], &vehicle.model)?;
        self.maybe("vin", vehicle.vin.as_deref())?;
        self.maybe("stock", vehicle.stock.as_deref())?;
        self.maybe("trim", vehicle.trim.as_deref())?;
        self.maybe("bodystyle", vehicle.bodystyle.as_deref())?;
        if let Some(transmission) = vehicle.transmission {
            let letter = match transmission {
                Transmission::Automatic => "A",
                Transmission::Manual => "M",
            };
            self.line("transmission", &[], letter)?;
        }
        if let Some(miles) = vehicle.odometer_mi {
            self.line("odometer", &[("units", "mi")], &miles.to_string())?;
        }
        self.maybe("condition", vehicle.condition.as_deref())?;
        if vehicle.interior_color.is_some() || vehicle.exterior_color.is_some() {
            self.within("colorcombination", &[], |page| {
                page.maybe("interiorcolor", vehicle.interior_color.as_deref())?;
                page.maybe("exteriorcolor", vehicle.exterior_color.as_deref())?;
                page.line("preference", &[], "1")
            })?;
        }
        if let Some(price) = vehicle.quote_usd {
            let attributes = [("type", "quote"), ("currency", "USD")];
            self.line("price", &attributes, &price.to_string())?;
        }
        let notes: Vec<String> = vehicle
            .notes
            .iter()
            .map(|note| clean(note))
            .filter(|note| !note.is_empty())
            .collect();
        self.text("comments", &notes.join("; "))
    }

    fn customer(&mut self, customer: &Customer) -> io::Result<()> {
        self.within("contact", &[], |page| {
            for (part, name) in &customer.names {
                page.name(*part, name)?;
            }
            if let Some(email) = &customer.email {
                page.reachable("email", email)?;
            }
            if let Some(phone) = &customer.phone {
                page.reachable("phone", phone)?;
            }
            match &customer.address {
                Some(address) => page.within("address", &[], |page| page.address(address)),
                None => Ok(()),
            }
        })?;
        self.text("comments", customer.comments.as_deref().unwrap_or_default())
    }

    fn address(&mut self, address: &Address) -> io::Result<()> {
        for (at, street) in address.streets.iter().take(5).enumerate() {
            self.line("street", &[("line", &(at + 1).to_string())], street)?;
        }
        self.maybe("city", address.city.as_deref())?;
        self.maybe("regioncode", address.region.as_deref())?;
        self.maybe("postalcode", address.postal_code.as_deref())?;
        self.maybe("country", address.country.as_deref())
    }

    fn vendor(&mut self, vendor: &Vendor) -> io::Result<()> {
        self.ids(&vendor.ids)?;
        self.line("vendorname", &[], &vendor.name)?;
        self.within("contact", &[], |page| {
            page.name(NamePart::Full, &vendor.contact_name)?;
            page.maybe("email", vendor.email.as_deref())?;
            page.maybe("phone", vendor.phone.as_deref())
        })
    }

    fn provider(&mut self, provider: &Provider) -> io::Result<()> {
        self.ids(&provider.ids)?;
        self.name(NamePart::Full, &provider.name)?;
        self.maybe("service", provider.service.as_deref())?;
        self.maybe("url", provider.url.as_deref())
    }

    fn ids(&mut self, ids: &[Id]) -> io::Result<()> {
        for (at, Id { source, value }) in ids.iter().enumerate() {
            let (source, sequence) = (clean_line(source), (at + 1).to_string());
            self.line("id", &[("sequence", &sequence), ("source", &source)], value)?;
        }
        Ok(())
    }

    fn name(&mut self, part: NamePart, name: &str) -> io::Result<()> {
        let part = match part {
            NamePart::Full => "full",
            NamePart::First => "first",
            NamePart::Last => "last",
        };
        self.line("name", &[("part", part)], name)
    }

    fn reachable(&mut self, element: &str, reachable: &Reachable) -> io::Result<()> {
        let kind = reachable.kind.map(|kind| ("type", kind));
        let preferred = reachable.preferred.then_some(("preferredcontact", "1"));
        let attributes: Vec<_> = kind.into_iter().chain(preferred).collect();
        self.line(element, &attributes, &reachable.value)
    }

    fn maybe(&mut self, element: &str, text: Option<&str>) -> io::Result<()> {
        self.line(element, &[], text.unwrap_or_default())
    }

    /// An element with a text of one line; left out when nothing remains of it.
    fn line(&mut self, element: &str, attributes: Attributes<'_>, text: &str) -> io::Result<()> {
        self.element(element, attributes, &clean_line(text))
    }

    /// An element with a text that may have lines; left out when nothing remains of it.
    fn text(&mut self, element: &str, text: &str) -> io::Result<()> {
        self.element(element, &[], &clean(text))
    }

    fn element(&mut self, element: &str, attributes: Attributes<'_>, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.0
            .create_element(element)
            .with_attributes(attributes.iter().copied())
            .write_text_content(BytesText::from_escaped(partial_escape(text)))
            .map(drop)
    }

    fn within(
        &mut self,
        element: &str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        use quick_xml::events::{BytesEnd, BytesStart};
        let start = BytesStart::new(element).with_attributes(attributes.iter().copied());
        self.0.write_event(Event::Start(start))?;
        content(self)?;
        self.0.write_event(Event::End(BytesEnd::new(element)))
    }
}
