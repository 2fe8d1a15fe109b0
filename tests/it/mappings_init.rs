//! `forecourt mappings init`: a copy of each shipped sample with other column names becomes the same vehicles
//! after at most ten edited lines, and a file with open questions does not load.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Map, Value, json};

/// Lines that a person may edit, add or delete.
const MAX_EDITS: usize = 10;

pub(crate) fn forecourt(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forecourt"))
        .args(args)
        .env_clear()
        .output()
        .unwrap()
}

pub(crate) fn text(output: &Output) -> String {
    let (out, err) = (output.stdout.clone(), output.stderr.clone());
    String::from_utf8([out, err].concat()).unwrap()
}

/// One line that a person changes: the line that begins so becomes the new one, or goes where that is empty.
/// A beginning with `+` stays and gets the new one after it.
pub(crate) type Edit = (&'static str, &'static str);

pub(crate) struct Case {
    preset: &'static str,
    renamed: &'static [(&'static str, &'static str)],
    pub(crate) edits: &'static [Edit],
}

/// The preset's expected vehicles in a folder of their own.
fn folder(case: &Case) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new("mappings").join(case.preset);
    fs::copy(
        from.join("expected.json"),
        folder.path().join("expected.json"),
    )
    .unwrap();
    folder
}

fn new_name<'a>(case: &Case, name: &'a str) -> &'a str {
    let found = case.renamed.iter().find(|(old, _)| *old == name);
    found.map_or(name, |(_, new)| new)
}

/// The sample with other column names.
fn renamed_csv(case: &Case, folder: &Path) -> PathBuf {
    let sample = Path::new("mappings").join(case.preset).join("sample.csv");
    let whole = fs::read_to_string(sample).unwrap();
    let (header, rows) = whole.split_once('\n').unwrap();
    let header = header.trim_start_matches('\u{feff}').trim_end();
    let names: Vec<&str> = header
        .split(',')
        .map(|name| new_name(case, name.trim_matches('"')))
        .collect();
    for (old, new) in case.renamed {
        assert!(names.contains(new), "{old} is no column of {}", case.preset);
    }
    let path = folder.join("sample.csv");
    fs::write(&path, format!("{}\n{rows}", names.join(","))).unwrap();
    path
}

/// The pages of a sample as one document with other member names.
pub(crate) fn renamed_json(case: &Case, items: &str, folder: &Path) -> PathBuf {
    fn renamed(case: &Case, value: Value) -> Value {
        match value {
            Value::Object(members) => Value::Object(
                members
                    .into_iter()
                    .map(|(name, value)| (new_name(case, &name).to_owned(), renamed(case, value)))
                    .collect::<Map<_, _>>(),
            ),
            Value::Array(list) => list.into_iter().map(|value| renamed(case, value)).collect(),
            scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => scalar,
        }
    }
    let mut vehicles = Vec::new();
    for page in ["000", "010", "020"] {
        let page = format!("mappings/{}/sample-{page}.json", case.preset);
        let page: Value = serde_json::from_str(&fs::read_to_string(page).unwrap()).unwrap();
        vehicles.extend(page[items].as_array().unwrap().iter().cloned());
    }
    let vehicles = renamed(case, Value::Array(vehicles));
    let path = folder.join("sample.json");
    fs::write(
        &path,
        json!({ "meta": { "page": 1 }, "cars": vehicles }).to_string(),
    )
    .unwrap();
    path
}

/// The sample's tables with other column names, as SQL for the case and as a database for `init`.
async fn renamed_sql(case: &Case, folder: &Path) -> String {
    use sqlx::{ConnectOptions as _, Connection as _};
    let sample = Path::new("mappings").join(case.preset).join("sample.sql");
    let mut sql = fs::read_to_string(sample).unwrap();
    for (old, new) in case.renamed {
        let pattern = regex::Regex::new(&format!(r"\b{old}\b([ ,)])")).unwrap();
        sql = pattern.replace_all(&sql, format!("{new}$1")).into_owned();
    }
    fs::write(folder.join("sample.sql"), &sql).unwrap();
    let file = folder.join("dms.sqlite");
    let options = sqlx::sqlite::SqliteConnectOptions::new();
    let options = options.filename(&file).create_if_missing(true);
    let mut session = options.connect().await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(&mut session)
        .await
        .unwrap();
    session.close().await.unwrap();
    format!("sqlite://{}", file.display())
}

/// Writes the mapping, makes the edits, and runs the case on its sample.
fn run(case: &Case, from: &str, folder: &Path) {
    run_on(case, from, folder, &[]);
}

/// The same on what `more` says.
fn run_on(case: &Case, from: &str, folder: &Path, more: &[&str]) {
    let test = |folder: &Path| {
        let args = ["mappings", "test", folder.to_str().unwrap()];
        forecourt(&[&args[..], more].concat())
    };
    let preset = case.preset;
    let mapping = folder.join("mapping.toml");
    let to = mapping.to_str().unwrap();
    let output = forecourt(&["mappings", "init", "--from", from, "--to", to]);
    assert_eq!(output.status.code(), Some(0), "{preset}: {}", text(&output));
    // A second time it would be written over.
    let again = forecourt(&["mappings", "init", "--from", from, "--to", to]);
    assert_eq!(again.status.code(), Some(2), "{preset}");
    let open = test(folder);
    let said = text(&open);
    assert_eq!(
        open.status.code(),
        Some(78),
        "{preset} loads with open questions"
    );
    assert!(
        said.contains("price[0].basis: no basis is stated"),
        "{said}"
    );

    edit(preset, &mapping, case.edits);
    let output = test(folder);
    assert_eq!(output.status.code(), Some(0), "{preset}: {}", text(&output));
}

/// Makes a person's edits.
pub(crate) fn edit(preset: &str, mapping: &Path, edits: &[Edit]) {
    assert!(edits.len() <= MAX_EDITS, "{preset}: {} edits", edits.len());
    let mut lines: Vec<String> = fs::read_to_string(mapping)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    for (begins, new) in edits {
        assert!(!new.contains('\n'), "one line an edit");
        let start = begins.trim_start_matches('+');
        let at = lines.iter().position(|line| line.starts_with(start));
        let at = at.unwrap_or_else(|| panic!("{preset}: no line begins with {start}"));
        match (begins.starts_with('+'), new.is_empty()) {
            (true, _) => lines.insert(at + 1, (*new).to_owned()),
            (false, true) => drop(lines.remove(at)),
            (false, false) => (*new).clone_into(&mut lines[at]),
        }
    }
    fs::write(mapping, lines.join("\n")).unwrap();
}

const AS_OF: Edit = ("updated_at", "updated_at = { provenance = \"as_of\" }");
const LOANERS: Edit = (
    "+filter = [",
    "{ keep = \"out.condition != 'new' or out.mileage | default(0) <= 500\", reason = \"a loaner\" },",
);

#[test]
fn homenet() {
    let case = Case {
        preset: "homenet-csv",
        renamed: &[
            ("DealerName", "Store Name"),
            ("Type", "NewUsed"),
            ("Stock", "Stock Number"),
            ("VIN", "Vehicle VIN"),
            ("Year", "Model Year"),
            ("Make", "Vehicle Make"),
            ("Model", "ModelName"),
            ("Body", "BodyStyle"),
            ("Trim", "Trim_Level"),
            ("ExteriorColor", "Ext Color"),
            ("InteriorColor", "Int Color"),
            ("EngineDisplacement", "Engine Size"),
            // A name that nobody can know.
            ("Transmission", "Gears"),
            ("Miles", "Odometer"),
            ("SellingPrice", "Asking Price"),
            ("MSRP", "Sticker Price"),
            ("Certified", "Is Certified"),
            ("DateInStock", "In Stock Date"),
            ("Description", "Dealer Comments"),
            ("Options", "Option List"),
            ("Drivetrain", "Drive Type"),
            ("Fuel_Type", "Fuel"),
            ("CityMPG", "MPG City"),
            ("HighwayMPG", "MPG Highway"),
            ("Misc_Price1", "Our Price"),
            ("ImageList", "Photo URLs"),
        ],
        edits: &[
            (
                "price",
                "price = { basis = \"all_mandatory_included\", from = \"Our Price\", steps = [\"number\", { sentinel = [0, 1] }, \"whole_dollars\"] }",
            ),
            AS_OF,
            LOANERS,
            ("+driveline", "transmission = \"Gears\""),
            ("source =", "source = { value = \"inventory feed\" }"),
        ],
    };
    let folder = folder(&case);
    let sample = renamed_csv(&case, folder.path());
    run(&case, sample.to_str().unwrap(), folder.path());
}

#[test]
fn vauto() {
    let case = Case {
        preset: "vauto-csv",
        renamed: &[
            ("Dealer Name", "Dealership"),
            ("VIN", "VIN Number"),
            ("Stock #", "StockNo"),
            ("New/Used", "Condition"),
            ("Year", "Yr"),
            ("Make", "Manufacturer"),
            ("Model", "Vehicle Model"),
            ("Body", "Body Style"),
            ("Transmission", "Trans"),
            ("Series", "Trim"),
            ("Series Detail", "Trim Detail"),
            ("Odometer", "Mileage"),
            ("Engine", "Engine Description"),
            ("Drivetrain Desc", "Drivetrain"),
            ("Colour", "Exterior Colour"),
            ("Interior Color", "Interior Colour"),
            ("Price", "Internet Price"),
            ("Inventory Date", "Date Added"),
            ("Certified", "CPO"),
            ("Description", "Comments"),
            ("Features", "Equipment"),
            ("Photo Url List", "Image URLs"),
            ("City MPG", "EPA City"),
            ("Highway MPG", "EPA Highway"),
            ("Vehicle Detail Link", "VDP URL"),
        ],
        edits: &[
            ("price", ""),
            AS_OF,
            ("displacement_cc", ""),
            ("source =", "source = { value = \"inventory feed\" }"),
        ],
    };
    let folder = folder(&case);
    let sample = renamed_csv(&case, folder.path());
    run(&case, sample.to_str().unwrap(), folder.path());
}

#[test]
fn google() {
    let case = Case {
        preset: "google-vehicle-listings",
        renamed: &[
            ("vin", "vehicle_identification_number"),
            ("id", "stock_number"),
            ("dealership_name", "dealer_name"),
            ("image_link", "photo_url"),
            ("additional_image_link", "more_images"),
            ("link", "vehicle_url"),
            ("date_in_stock", "date_first_on_lot"),
            ("price", "final_price"),
            ("vehicle_msrp", "msrp_amount"),
            ("condition", "state_of_vehicle"),
            ("certified_pre_owned", "certified"),
            ("make", "brand"),
            ("model", "model_name"),
            ("trim", "trim_name"),
            ("year", "vehicle_year"),
            ("mileage", "odometer_reading"),
            ("exterior_color", "color"),
            ("interior_color", "interior"),
            ("body_type", "body_style"),
            ("transmission", "gearbox"),
            ("drivetrain", "drive"),
            ("fuel_type", "fuel"),
            ("description", "remarks"),
        ],
        edits: &[
            (
                "price",
                "price = { basis = \"all_mandatory_included\", from = \"final_price\", steps = [\"number\", { sentinel = [0] }, \"whole_dollars\"] }",
            ),
            AS_OF,
            LOANERS,
        ],
    };
    let folder = folder(&case);
    let sample = renamed_csv(&case, folder.path());
    run(&case, sample.to_str().unwrap(), folder.path());
}

/// What a person does about the names of a Fortellis style API whose members are called otherwise.
pub(crate) fn fortellis_case() -> Case {
    Case {
        preset: "fortellis-rest",
        renamed: &[
            ("vin", "vehicleVin"),
            ("stockNumber", "stockNo"),
            ("category", "inventoryType"),
            ("year", "modelYear"),
            ("make", "makeName"),
            ("model", "modelName"),
            ("trim", "series"),
            ("bodyStyleDescription", "bodyType"),
            ("odometer", "mileage"),
            ("unitOfMeasure", "unit"),
            ("driveTrain", "driveType"),
            ("transmission", "gearbox"),
            ("lotDate", "stockDate"),
            ("modifiedTime", "lastModified"),
            ("marketable", "published"),
            ("vehicleStatus", "lot"),
            ("inventoryStatus", "stockStatus"),
            ("financials", "money"),
            ("prices", "amounts"),
            ("dealerCode", "storeCode"),
        ],
        edits: &[
            (
                "price",
                "price = { basis = \"all_mandatory_included\", from = \"money.amounts[type=ADVERTISED].value\", steps = [\"whole_dollars\"] }",
            ),
            (
                "rooftop",
                "rooftop = { from = \"storeCode\", steps = [{ table = \"rooftop\" }] }",
            ),
            (
                "+[tables]",
                "rooftop = { HPM01 = \"Harbor Point Motors\", HPC01 = \"Harbor Point Cycles\" }",
            ),
        ],
    }
}

#[test]
fn fortellis() {
    let case = fortellis_case();
    let folder = folder(&case);
    let sample = renamed_json(&case, "results", folder.path());
    run(&case, sample.to_str().unwrap(), folder.path());
}

#[test]
fn marketcheck() {
    let case = Case {
        preset: "marketcheck-rest",
        renamed: &[
            ("stock_no", "stock_number"),
            ("price", "asking_price"),
            ("miles", "mileage"),
            ("is_certified", "certified"),
            ("vdp_url", "detail_url"),
            ("exterior_color", "ext_color"),
            ("interior_color", "int_color"),
            ("inventory_type", "stock_type"),
            ("last_seen_at", "updated_at"),
            ("first_seen_at_date", "date_in_stock"),
            ("photo_links", "image_urls"),
            ("seller_cmts", "dealer_comments"),
            ("features", "options"),
            ("fuel_type", "fuel"),
            ("drivetrain", "drive_type"),
            ("body_type", "body_style"),
            ("model", "model_name"),
        ],
        edits: &[
            ("price", ""),
            LOANERS,
            ("displacement_cc", ""),
            (
                "source =",
                "source = { value = \"dealer website, collected\" }",
            ),
        ],
    };
    let folder = folder(&case);
    let sample = renamed_json(&case, "listings", folder.path());
    run(&case, sample.to_str().unwrap(), folder.path());
}

#[tokio::test]
async fn dms() {
    let case = Case {
        preset: "dms-sqlserver",
        renamed: &[
            ("RECNO", "RECORDID"),
            ("STK", "STOCKNO"),
            ("VIN", "VINNO"),
            ("NU", "NEWUSED"),
            ("YR", "MODELYR"),
            ("MAKECD", "MAKECODE"),
            ("MODELDS", "MODELDESC"),
            ("TRIMDS", "TRIMDESC"),
            ("BODYCD", "BODYCODE"),
            ("CLREXT", "EXTCOLOR"),
            ("CLRINT", "INTCOLOR"),
            ("FUELCD", "FUELCODE"),
            ("TRANCD", "TRANSCODE"),
            ("DRVCD", "DRVCODE"),
            ("MILES", "ODOMETER"),
            ("LISTPR", "LISTPRICE"),
            ("ADVPR", "ADVERTISED"),
            ("STATCD", "STATUSCODE"),
            ("INDT", "INVENTORYDATE"),
            ("SOLDDT", "SOLDDATE"),
            ("LSTCHG", "LASTCHANGED"),
            ("DELFLG", "DELETED"),
            ("CMNT", "REMARKS"),
            ("OPTDESC", "OPTIONTEXT"),
        ],
        edits: &[
            (
                "price",
                "price = { basis = \"all_mandatory_included\", from = \"ADVERTISED\", steps = [\"number\", { sentinel = [0] }, \"whole_dollars\"], omit_when = \"number(row.ADVERTISED) < number(row.LISTPRICE)\" }",
            ),
            (
                "updated_at",
                "updated_at = { provenance = \"source_column\", from = \"LASTCHANGED\", steps = [{ datetime = { format = \"%Y-%m-%d %H:%M:%S\", zone = \"America/Los_Angeles\", ambiguous = \"earlier\" } }] }",
            ),
            (
                "+duplicates",
                "fees = { defaults = { table = \"LOCFEE\", key = \"LOCCD\" }, overrides = \"VEHFEE\", code = \"FEECD\", name = { from = \"DESCR\", steps = [\"sentence\"] }, amount = { from = \"AMT\", steps = [\"number\", \"whole_dollars\"] }, mandatory = \"item.MAND == 'Y'\", government = \"item.GOVT == 'Y'\" }",
            ),
            (
                "vehicle_id",
                "vehicle_id = { template = \"D4471:{{ row.RECORDID }}\" }",
            ),
            (
                "model",
                "model = { from = \"MODELDESC\", steps = [\"trim\", { table = { of = \"model\", miss = \"pass\" } }] }",
            ),
            (
                "+[tables]",
                "model = { \"ACCORD\" = \"Accord\", \"TAHOE\" = \"Tahoe\", \"330I\" = \"330i\", \"430I\" = \"430i\", \"MODEL 3\" = \"Model 3\", \"F-150 LIGHTNING\" = \"F-150 Lightning\", \"BOLT EUV\" = \"Bolt EUV\", \"RAV4 PRIME\" = \"RAV4 Prime\", \"ROAD GLIDE SPECIAL\" = \"Road Glide Special\", \"NINJA 400\" = \"Ninja 400\", \"COROLLA\" = \"Corolla\", \"FORESTER\" = \"Forester\", \"MUSTANG\" = \"Mustang\", \"JETTA\" = \"Jetta\", \"ALTIMA\" = \"Altima\", \"SIERRA 2500HD\" = \"Sierra 2500HD\", \"GRAND HIGHLANDER\" = \"Grand Highlander\", \"FRONTIER\" = \"Frontier\", \"CHEROKEE WOLF PUP\" = \"Cherokee Wolf Pup\", \"CR-V HYBRID\" = \"CR-V Hybrid\" }",
            ),
            (
                "+[tables]",
                "recorded_by = { F = \"factory build sheet\", D = \"dealer's equipment list\" }",
            ),
            (
                "source =",
                "source = { from = \"SRC\", steps = [{ table = \"recorded_by\" }] }",
            ),
            ("+unmatched", "skip = \"item.SRC == 'V'\""),
        ],
    };
    let folder = folder(&case);
    let url = renamed_sql(&case, folder.path()).await;
    run(&case, &url, folder.path());
}

/// A private MariaDB on a socket, ended with the value.
struct MariaDb {
    process: std::process::Child,
    folder: tempfile::TempDir,
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl MariaDb {
    /// Starts one; the database refuses to run as root, so root steps down.
    fn start() -> Self {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
        use std::os::unix::process::CommandExt as _;
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let root = fs::metadata("/proc/self").unwrap().uid() == 0;
        if root {
            chown(folder.path(), Some(65_534), Some(65_534)).unwrap();
        }
        let at = |name: &str| folder.path().join(name).display().to_string();
        let command = |program: &str, args: &[String]| {
            let place = ["/usr/bin", "/usr/sbin", "/usr/local/bin"]
                .map(|place| Path::new(place).join(program))
                .into_iter()
                .find(|path| path.exists());
            let mut command = Command::new(place.unwrap_or_else(|| panic!("{program} is missing")));
            let quiet = std::process::Stdio::null;
            command
                .arg("--no-defaults")
                .args(args)
                // Two at the same moment would take each other's temporary tables away.
                .env("TMPDIR", folder.path())
                .stdout(quiet())
                .stderr(quiet());
            if root {
                command.uid(65_534).gid(65_534);
            }
            command
        };
        let data = format!("--datadir={}", at("data"));
        let plain = ["--auth-root-authentication-method=normal", "--skip-test-db"];
        let mut args = plain.map(str::to_owned).to_vec();
        args.push(data.clone());
        assert!(
            command("mariadb-install-db", &args)
                .status()
                .unwrap()
                .success()
        );
        let (socket, pid) = (at("socket"), at("pid"));
        let args = [
            "--skip-networking".to_owned(),
            data,
            format!("--socket={socket}"),
            format!("--pid-file={pid}"),
        ];
        let process = command("mariadbd", &args).spawn().unwrap();
        Self { process, folder }
    }

    fn url(&self, database: &str) -> String {
        let socket = self.folder.path().join("socket");
        format!(
            "mysql://root@localhost/{database}?socket={}",
            socket.display()
        )
    }

    /// Connects as soon as it answers.
    async fn connect(&mut self) -> sqlx::MySqlConnection {
        use sqlx::ConnectOptions as _;
        let options: sqlx::mysql::MySqlConnectOptions = self.url("").parse().unwrap();
        let began = std::time::Instant::now();
        loop {
            match options.connect().await {
                Ok(session) => return session,
                Err(error) => assert!(began.elapsed().as_secs() < 60, "{error}"),
            }
            assert!(
                self.process.try_wait().unwrap().is_none(),
                "the server ended"
            );
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn website() {
    use sqlx::Connection as _;
    let case = Case {
        preset: "mysql-website",
        renamed: &[
            ("stock_no", "stock_number"),
            ("vin", "vin_no"),
            ("model_year", "year"),
            ("ext_color", "colour"),
            ("int_color", "interior_colour"),
            ("fuel", "fuel_type"),
            ("transmission", "gearbox"),
            ("drivetrain", "drive_type"),
            ("odometer", "mileage"),
            ("odometer_unit", "mileage_unit"),
            ("options", "equipment"),
            ("images", "photos"),
            ("description", "comments"),
            ("date_added", "lot_date"),
            ("updated_at", "last_changed"),
        ],
        edits: &[
            (
                "price",
                "price = { basis = \"all_mandatory_included\", from = \"price\", when = \"row.price_includes_fees == 1 and row.call_for_price == 0\", steps = [\"number\", { sentinel = [0, 1] }, \"whole_dollars\"] }",
            ),
            (
                "updated_at",
                "updated_at = { provenance = \"source_column\", from = \"last_changed\", steps = [{ datetime = { format = \"%Y-%m-%d %H:%M:%S\", zone = \"UTC\" } }] }",
            ),
            (
                "+duplicates",
                "fees = { defaults = { table = \"dealer_fee\", when = \"row.type in item.applies_to\" }, overrides = \"vehicle_fee\", code = \"code\", name = \"label\", amount = { from = \"amount\", steps = [\"number\", \"whole_dollars\"] }, mandatory = \"item.mandatory == 1\", government = \"item.government | default(0) == 1\" }",
            ),
            (
                "vehicle_id",
                "vehicle_id = { template = \"web-{{ row.id }}\" }",
            ),
            (
                "list_price",
                "list_price = { from = \"price\", when = \"row.price_includes_fees == 0 and row.call_for_price == 0\", steps = [\"number\", { sentinel = [0, 1] }, \"whole_dollars\"] }",
            ),
            (
                "+list_price",
                "rooftop = { from = \"type\", steps = [{ table = \"rooftop\" }] }",
            ),
            (
                "+[tables]",
                "rooftop = { car = \"Harbor Point Motors\", rv = \"Harbor Point Motors\", other = \"Harbor Point Motors\", motorcycle = \"Harbor Point Cycles\" }",
            ),
            (
                "photos",
                "photos = { from = \"photos\", steps = [{ split = [\",\", \"|\"] }, { urls = \"https://www.dealer.example\" }, \"dedupe\", { limit = 40 }] }",
            ),
            (
                "source =",
                "source = { value = \"dealer's website record\" }",
            ),
        ],
    };
    let folder = folder(&case);
    let mut server = MariaDb::start();
    let mut session = server.connect().await;
    let mut sql = fs::read_to_string("mappings/mysql-website/sample.sql").unwrap();
    for (old, new) in case.renamed {
        let pattern = regex::Regex::new(&format!(r"\b{old}\b( [A-Z]|[),])")).unwrap();
        sql = pattern.replace_all(&sql, format!("{new}$1")).into_owned();
    }
    for sql in ["CREATE DATABASE dms", "USE dms", &sql] {
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        sqlx::raw_sql(sql).execute(&mut session).await.unwrap();
    }
    session.close().await.unwrap();
    let url = server.url("dms");
    run_on(&case, &url, folder.path(), &["--url", &url]);
}

/// A configured source is enough: the mapping that the configuration names is yet to be written.
#[test]
fn a_configured_deployment() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let config = "[deployments.d]\ndomain = 'dealer.example'\n[deployments.d.inventory]\n\
        mapping = 'mapping.toml'\nsource = { kind = 'feed', path = 'sample.csv' }\n";
    fs::write(at("forecourt.toml"), config).unwrap();
    fs::copy("mappings/homenet-csv/sample.csv", at("sample.csv")).unwrap();
    let (config, mapping) = (at("forecourt.toml"), at("mapping.toml"));
    let init = |from: &str| {
        let args = [
            "mappings", "init", "--config", &config, "--from", from, "--to", &mapping,
        ];
        forecourt(&args)
    };
    let output = init("d");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(
        text(&output).contains("is written from 33 rows"),
        "{}",
        text(&output)
    );
    let output = init("elsewhere");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("neither a file"),
        "{}",
        text(&output)
    );
}
