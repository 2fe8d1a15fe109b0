//! `forecourt init`: a first configuration with its key file, by flags and questions; with a source named, a first
//! mapping as well. Must not write over a file.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde_json::json;
use toml::Value;

use super::failure::{Exit, Failure};
use super::mappings;
use super::output::Output;
use crate::config::{Config, Environment, Sources};
use crate::seal::KeyRing;

const CONFIG: &str = "forecourt.toml";
const KEYS: &str = "keys";
const MAPPING: &str = "mapping.toml";

/// What the dealer is. What no flag says is asked, where somebody can answer.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder to write into
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The dealer's host name, e.g. dealer.example
    #[arg(long, value_name = "HOST")]
    domain: Option<String>,
    /// The dealer's name
    #[arg(long)]
    name: Option<String>,
    /// The dealer's telephone, e.g. +1-312-555-0100
    #[arg(long)]
    phone: Option<String>,
    /// The dealer's time zone, e.g. America/Chicago
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Where the inventory is: a feed file, or a database's URL (sqlite:, postgres:, mysql:); none leaves it out
    #[arg(long, value_name = "SOURCE")]
    from: Option<String>,
    /// Where leads go: the CRM's mail address; none leaves them out
    #[arg(long, value_name = "ADDRESS")]
    leads_to: Option<String>,
    /// The mail relay that takes them
    #[arg(long, value_name = "HOST", requires = "leads_to")]
    relay: Option<String>,
}

/// The same, complete.
struct Answers {
    domain: String,
    name: String,
    phone: String,
    timezone: String,
    from: Option<String>,
    /// Address and relay.
    leads: Option<(String, String)>,
}

pub(super) async fn run(
    arguments: Arguments,
    environment: Environment,
    output: Output,
) -> Result<Exit, Failure> {
    let folder = arguments.folder.clone();
    let config = folder.join(CONFIG);
    let keys = folder.join("forecourt-data").join(KEYS);
    let mapping = folder.join(MAPPING);
    for file in [&config, &keys, &mapping] {
        if fs::symlink_metadata(file).is_ok() {
            let failure = Failure::new(Exit::Usage, format!("{} is there already", file.display()));
            return Err(failure.hint("nothing was written; name an empty folder"));
        }
    }
    let answers = arguments.complete()?;
    let data = folder.join("forecourt-data");
    crate::app::make_private_folder(&folder)?;
    answers.check(&config, environment)?;
    let mut written = Vec::new();
    let (mut words, mut questions) = (String::new(), json!([]));
    if let Some(from) = &answers.from {
        let (text, mut value) = mappings::draft(from, &mapping).await?;
        words = format!("{text}\n");
        questions = value
            .get_mut("questions")
            .map(serde_json::Value::take)
            .unwrap_or_default();
        written.push(mapping);
    }
    crate::app::make_private_folder(&data)?;
    KeyRing::generate()?.write_new(&keys)?;
    write_new(&config, &answers.to_toml(answers.from.as_deref()))?;
    written.extend([config.clone(), keys]);
    let files: Vec<String> = written
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let config = config.display();
    let next = format!("forecourt check --config {config}");
    let text = format!("{words}written: {}\nnext: {next}", files.join(", "));
    let value =
        json!({ "schema_version": 1, "files": files, "questions": questions, "next": next });
    output.print(&text, &value)?;
    Ok(Exit::Fine)
}

impl Arguments {
    /// Asks for what is missing, where somebody sits there; else says which flags are.
    fn complete(self) -> Result<Answers, Failure> {
        let asks = io::stdin().is_terminal();
        let mut missing = Vec::new();
        let mut need = |given: Option<String>, flag: &'static str, question: &str| match given {
            Some(given) => Ok(given),
            None if asks => ask(question),
            None => {
                missing.push(flag);
                Ok(String::new())
            }
        };
        let domain = need(self.domain, "--domain", "The dealer's host name")?;
        let name = need(self.name, "--name", "The dealer's name")?;
        let phone = need(self.phone, "--phone", "Its telephone, with country code")?;
        let timezone = need(
            self.timezone,
            "--timezone",
            "Its time zone, e.g. America/Chicago",
        )?;
        let leads = match self.leads_to {
            Some(address) => Some((address, need(self.relay, "--relay", "The mail relay")?)),
            None => None,
        };
        if !missing.is_empty() {
            let words = format!("missing: {}", missing.join(", "));
            let failure = Failure::new(Exit::Usage, words);
            return Err(failure.hint("on a terminal they are asked for"));
        }
        if TimeZone::get(&timezone).is_err() {
            let words = format!("{timezone:?} is no time zone");
            return Err(Failure::new(Exit::Usage, words).hint("write e.g. America/Chicago"));
        }
        Ok(Answers {
            domain,
            name,
            phone,
            timezone,
            from: self.from,
            leads,
        })
    }
}

/// One line from the person at the terminal.
fn ask(question: &str) -> Result<String, Failure> {
    let mut err = io::stderr().lock();
    write!(err, "{question}: ")?;
    err.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let answer = line.trim();
    if answer.is_empty() {
        return Err(Failure::new(Exit::Usage, "no answer; nothing was written"));
    }
    Ok(answer.to_owned())
}

impl Answers {
    /// That what is about to be written will be taken, but for what only the dealer can answer in the mapping;
    /// nothing stays of it. `config` is where it goes.
    fn check(&self, config: &Path, environment: Environment) -> Result<(), Failure> {
        write_new(config, &self.to_toml(None))?;
        let loaded = Config::load(&Sources {
            files: vec![config.to_owned()],
            environment,
            ..Sources::default()
        });
        fs::remove_file(config).map_err(|error| {
            Failure::new(Exit::Unavailable, format!("{}: {error}", config.display()))
        })?;
        match loaded {
            Ok(_) => Ok(()),
            Err(findings) => {
                let failure = Failure {
                    exit: Exit::Usage,
                    message: "with these answers the configuration would be wrong".to_owned(),
                    ..Failure::from(findings)
                };
                Err(failure.hint("nothing was written"))
            }
        }
    }

    /// With the inventory `from` there, if it is to have one.
    fn to_toml(&self, from: Option<&str>) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let (domain, name) = (quoted(&self.domain), quoted(&self.name));
        let (zone, phone) = (quoted(&self.timezone), quoted(&self.phone));
        let mut skills = vec!["dealer.information"];
        let inventory = from.map(|from| {
            skills.extend(["inventory.facets", "inventory.search", "inventory.vehicle"]);
            let source = source(from);
            format!("\n[deployments.main.inventory]\nmapping = \"{MAPPING}\"\nsource = {source}\n")
        });
        let leads = self.leads.as_ref().map(|(address, relay)| {
            skills.push("lead.submit");
            let (address, relay) = (quoted(address), quoted(relay));
            let from = quoted(&format!("forecourt@{}", self.domain));
            format!(
                "\n[deployments.main.leads.deliveries.crm]\nkind = \"smtp\"\nhost = {relay}\n\
                 # username and password_file, where the relay asks for them\nfrom = {from}\nto = [{address}]\n"
            )
        });
        let (inventory, leads) = (inventory.unwrap_or_default(), leads.unwrap_or_default());
        let skills = Value::from(skills);
        format!(
            "# Every key: `forecourt generate reference`\n\n\
             [server]\nlisten = \"127.0.0.1:8080\"\nadmin_listen = \"127.0.0.1:9090\"\n\n\
             [deployments.main]\ndomain = {domain}\nskills = {skills}\n\n\
             [deployments.main.profile]\nname = {name}\n[[deployments.main.profile.rooftops]]\nname = {name}\n\
             timezone = {zone}\nphones = [{{ name = \"sales\", value = {phone} }}]\n{inventory}{leads}"
        )
    }
}

/// A database's URL may hold a password: then it is for a file of its own, which the writer is told of.
fn source(from: &str) -> String {
    let quoted = Value::from(from).to_string();
    if Path::new(from).exists() {
        let path = fs::canonicalize(from).unwrap_or_else(|_| from.into());
        let path = Value::from(path.display().to_string());
        format!("{{ kind = \"feed\", path = {path} }}")
    } else {
        format!(
            "{{ kind = \"sql\", url = {quoted} }}  # better: url_file = \"/run/secrets/dms-url\""
        )
    }
}

fn write_new(file: &Path, text: &str) -> Result<(), Failure> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let cannot =
        |error: io::Error| Failure::new(Exit::Unavailable, format!("{}: {error}", file.display()));
    // The source's URL may hold a password.
    let new = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file);
    new.map_err(cannot)?
        .write_all(text.as_bytes())
        .map_err(cannot)
}
