//! What codes and words of dealers' systems usually mean. A word that is not known here becomes a question.

/// A meaning of a status word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Is(&'static str),
    Hide(&'static str),
}

/// A status word, folded, as AAP status or as a reason to hide.
pub(super) fn status(word: &str) -> Option<Meaning> {
    Some(match word {
        "available" | "instock" | "active" | "forsale" | "stockedin" | "onlot" | "live"
        | "ready" => Meaning::Is("available"),
        "intransit" | "transit" | "inbound" => Meaning::Is("intransit"),
        "pending" | "salepending" | "dealpending" | "tentative" => Meaning::Is("pending"),
        "sold" | "invoiced" | "delivered" | "retailed" => Meaning::Hide("sold"),
        "onorder" | "ordered" | "order" => Meaning::Hide("on order"),
        "loaner" | "courtesy" | "rental" | "float" => Meaning::Hide("loaner"),
        "wholesale" | "wholesaled" | "auction" => Meaning::Hide("wholesale"),
        "deleted" | "removed" | "cancelled" | "canceled" | "transferredout" => {
            Meaning::Hide("deleted")
        }
        "hidden" | "draft" | "inactive" | "unpublished" => Meaning::Hide("not published"),
        "hold" | "onhold" | "inservice" | "service" | "recon" => Meaning::Hide("not ready"),
        _ => return None,
    })
}

/// A new/used word, folded, as AAP condition.
pub(super) fn condition(word: &str) -> Option<Meaning> {
    Some(match word {
        "new" | "n" => Meaning::Is("new"),
        "used" | "u" | "preowned" => Meaning::Is("used"),
        "certified" | "cpo" | "c" | "certifiedpreowned" => Meaning::Is("cpo"),
        "demo" | "demonstrator" | "d" => Meaning::Hide("demonstrator"),
        _ => return None,
    })
}

/// A type or body word, folded, as AAP vehicle type, where it is not a car.
pub(super) fn not_a_car(word: &str) -> Option<&'static str> {
    Some(match word {
        "touring" | "naked" | "sport" | "cruiser" | "motorcycle" | "dirtbike" | "scooter"
        | "sportbike" => "motorcycle",
        "traveltrailer" | "motorhome" | "rv" | "fifthwheel" | "camper" | "toyhauler" => "rv",
        "trailer" | "utilitytrailer" => "trailer",
        _ => return None,
    })
}

/// A type word, folded, as AAP vehicle type.
pub(super) fn vehicle_type(word: &str) -> Option<&'static str> {
    match word {
        "car" | "c" | "auto" | "truck" | "suv" | "van" => Some("car"),
        "m" => Some("motorcycle"),
        "t" => Some("trailer"),
        "r" => Some("rv"),
        "other" => Some("other"),
        word => not_a_car(word),
    }
}

/// A fuel word, folded, in plain English.
pub(super) fn fuel(word: &str) -> Option<&'static str> {
    Some(match word {
        "gasoline" | "gas" | "gasolinefuel" | "unleaded" | "petrol" | "regularunleaded"
        | "premiumunleaded" => "gasoline",
        "diesel" | "dieselfuel" => "diesel",
        "hybrid" | "hev" | "gaselectrichybrid" | "mhev" | "fullhybrid" => "hybrid",
        "pluginhybrid" | "phev" | "plugingaselectrichybrid" => "plug-in hybrid",
        "electric" | "bev" | "ev" | "electricfuelsystem" => "electric",
        "hydrogen" | "fcev" => "hydrogen",
        _ => return None,
    })
}

/// A make's short form, folded, as its name.
pub(super) fn make(word: &str) -> Option<&'static str> {
    Some(match word {
        "vw" => "Volkswagen",
        "chevy" | "chev" => "Chevrolet",
        "mercedes" | "mb" => "Mercedes-Benz",
        "hd" | "harley" => "Harley-Davidson",
        "landrover" => "Land Rover",
        _ => return None,
    })
}

/// Words that stand for yes, folded.
pub(super) const YES: &[&str] = &["y", "yes", "true", "t", "1"];

/// Words that stand for no, and nothing at all.
pub(super) const NO: &[&str] = &["", "n", "no", "false", "f", "0"];

/// What stands in a column of dates for "never".
pub(super) const NEVER: &[&str] = &["", "00000000", "0000-00-00", "0000-00-00 00:00:00"];
