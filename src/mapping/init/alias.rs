//! What dealers' systems call things: AAP member to the column names met in the field, the likeliest first.
//! Names are compared without case, blanks and punctuation. Must not look at values.

/// What a column may be taken for. Members of a listing, and facts that only steer a mapping.
pub(super) const ALIASES: &[(&str, &str)] = &[
    (
        "vin",
        "vin vinnumber vinno vehicleidentificationnumber vehiclevin chassisnumber",
    ),
    (
        "stock",
        "stock stocknumber stockno stocknum stocknbr stk stkno stknum stockid \
         dealerstocknumber unitnumber inventorynumber id",
    ),
    (
        "status",
        "status inventorystatus statuscode statcd stat stockstatus vehiclestatus availability \
         statusname salestatus",
    ),
    (
        "newness",
        "newused nu neworused type condition category inventorytype stocktype stateofvehicle \
         vehiclecondition neworusedflag newusedflag vehicletypenewused",
    ),
    (
        "certified",
        "certified cert iscertified certifiedpreowned cpo iscpo certifiedflag \
         manufacturercertified",
    ),
    (
        "vehicle_type",
        "vehicletype vtype vehicleclass unittype type",
    ),
    ("year", "year modelyear yr vehicleyear modelyr myear"),
    (
        "make",
        "make makename vehiclemake manufacturer mfr brand makecd makecode makeid",
    ),
    (
        "model",
        "model modelname vehiclemodel modelds modeldesc modeldescription modelid",
    ),
    (
        "trim",
        "trim series trimlevel trimname trimds trimdesc vehicletrim grade",
    ),
    ("trim_too", "seriesdetail trimdetail"),
    (
        "body",
        "body bodystyle bodytype bodystyledescription bodydescription bodycd bodycode \
         bodystylecode bodyname",
    ),
    (
        "exterior_color",
        "exteriorcolor extcolor exteriorcolour colour color colorexteriorname clrext colorext \
         extcolour outsidecolor paint exterior",
    ),
    (
        "interior_color",
        "interiorcolor intcolor interiorcolour colorinteriorname clrint colorint intcolour \
         insidecolor interior upholsterycolor",
    ),
    (
        "mileage",
        "mileage miles odometer mileagevalue odometervalue odo odometerreading currentmileage \
         kms",
    ),
    (
        "mileage_unit",
        "odometerunit mileageunit odometerunitofmeasure odounit distanceunit",
    ),
    (
        "fuel",
        "powertraintype fuel fueltype fuelcd fuelcode enginefueltype fuelname",
    ),
    ("fuel_too", "fueltype fuel enginefuel"),
    ("engine", "engine enginedescription enginedesc"),
    (
        "displacement_cc",
        "displacementcc displacement enginedisplacement cc enginecc enginesize",
    ),
    (
        "transmission",
        "transmission trans transmissiondescription transmissiontype gearbox trancd \
         transmissioncode transcd transcode",
    ),
    (
        "driveline",
        "drivetrain driveline drivetraindesc drivetype drivetraindescription drive drvcd \
         drvcode drivetraincode wheeldrive",
    ),
    ("city_mpg", "citympg mpgcity epacity fueleconomycity"),
    (
        "highway_mpg",
        "highwaympg mpghighway hwympg epahighway mpghwy fueleconomyhighway",
    ),
    (
        "electric_range_mi",
        "electricrange rangemi evrange range electricrangemi",
    ),
    ("battery_kwh", "batterykwh kwh batterycapacity"),
    ("motor_power_kw", "kw motorkw motorpowerkw powerkw"),
    (
        "charge_port",
        "chargeport port plugtype chargingport connector",
    ),
    (
        "dc_fast_charge",
        "dcfastcharge dcfc fastcharge dcfastcharging",
    ),
    (
        "msrp",
        "msrp vehiclemsrp sticker stickerprice msrpamount manufacturersuggestedretailprice",
    ),
    (
        "list_price",
        "sellingprice listprice listpr retail retailprice askingprice asking internetprice \
         saleprice baseretail price webprice vehicleprice",
    ),
    (
        "advertised",
        "advertised advertisedprice advpr miscprice1 finalprice totalprice outthedoorprice \
         ourprice price",
    ),
    (
        "rooftop",
        "dealername dealershipname rooftop rooftopname storename locationname store location \
         dealership lotname loccd locationcode dealercode storecode lotcode",
    ),
    (
        "inventory_date",
        "dateinstock inventorydate lotdate dateadded indt stockdate datefirstonlot onlotsince \
         instockdate receiveddate firstseenatdate indate",
    ),
    (
        "photos",
        "imagelist photourllist photolinks images photos imageurls photourls imagelink \
         imageurl photourl pictures photo mediaurl photosurl imagesurl vehphotourl pictureurls \
         imgurls",
    ),
    (
        "photos_too",
        "additionalimagelink additionalimagelinks moreimages additionalphotos",
    ),
    (
        "vdp_url",
        "vdpurl vehicledetaillink link vdp detailurl vehicleurl detailpage listingurl weburl",
    ),
    (
        "description",
        "description comments sellercmts dealercomments cmnt comment sellernotes \
         webdescription vehiclecomments remarks",
    ),
    (
        "features",
        "options features optionlist equipment featurelist optdesc optiondesc optionsoptdesc \
         installedoptions optiontext",
    ),
    (
        "updated_at",
        "updatedat modifiedtime lastmodified lstchg lastchange lastchanged lastupdated \
         lastupdate modified datemodified changed lastseenat modifiedat updated \
         lastmodifieddate changedat",
    ),
    (
        "deleted",
        "deleted delflg deletedat isdeleted deleteflag delflag removed",
    ),
    ("sold_on", "solddate solddt soldon saledate soldat"),
    ("in_transit", "intransit isintransit intransitflag"),
    (
        "marketable",
        "marketable publish published showonweb ispublished",
    ),
    ("disposition", "disposition saletype dispositioncode"),
];

/// Names too common to count anywhere but at the top of a row.
const COMMON: &str = "id type name value price status link color range drive location store \
    category interior exterior removed changed condition";

/// A name as it is compared.
pub(super) fn folded(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// The names under which a column with this path may be known: the whole path first, then its end.
pub(super) fn names_of(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path
        .split(['.', '[', ']', '='])
        .filter(|part| !part.is_empty())
        .collect();
    let mut names = vec![folded(path)];
    // `prices[type=RETAIL].value` is known as `retail`.
    if let Some((_, rest)) = path.split_once('=') {
        names.push(folded(rest.split(']').next().unwrap_or_default()));
    }
    if let [.., first, last] = parts.as_slice() {
        names.push(folded(&format!("{first}{last}")));
        names.push(folded(last));
    }
    names.retain(|name| !name.is_empty());
    names
}

/// How well a column with these names fits a member; less is better.
pub(super) fn rank(member: &str, names: &[String]) -> Option<usize> {
    let (_, aliases) = ALIASES.iter().find(|(name, _)| *name == member)?;
    let mut best = None;
    for (depth, name) in names.iter().enumerate() {
        let found = aliases.split_whitespace().position(|alias| alias == name);
        if let Some(at) = found
            && (depth == 0 || !COMMON.split_whitespace().any(|common| common == name))
        {
            let score = at * 4 + depth;
            best = Some(best.map_or(score, |other: usize| other.min(score)));
        }
    }
    best
}

/// How many members of a vehicle these column names could fill: what tells a vehicle table from others.
pub(super) fn worth(columns: &[String]) -> usize {
    let fits = |member: &str| {
        columns
            .iter()
            .any(|column| rank(member, &[folded(column)]).is_some())
    };
    let count = ALIASES.iter().filter(|(member, _)| fits(member)).count();
    count + 5 * usize::from(fits("vin"))
}
