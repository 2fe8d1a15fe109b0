//! `forecourt demo`: the whole product on loopback, with a database like a dealer's and a mail receiver
//! that stands for its CRM. It goes the way of `serve`: a configuration file like any other.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde_json::json;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use super::call::AgentFiles;
use super::failure::{Exit, Failure};
use super::output::Output;
use super::serve;
use crate::app::{self, App};
use crate::clock::Clock;
use crate::config::{Config, Environment, Flag, Sources};
use crate::delivery::MailReceiver;

const CONFIG: &str = include_str!("../../demo/forecourt.toml");
const MAPPING: &str = include_str!("../../mappings/dms-sqlserver/mapping.toml");
const ROWS: &str = include_str!("../../mappings/dms-sqlserver/sample.sql");
/// The largest mail that the receiver takes.
const MAX_MAIL_BYTES: usize = 1 << 20;

/// Flags of `demo`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Where to listen, on loopback; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The folder for everything the demo makes; one of an earlier run is used again
    #[arg(long, value_name = "DIR", default_value = "forecourt-data")]
    data: PathBuf,
    /// Let further personal agents in: whose identity is published by a server that has its certificate
    /// from this authority (PEM), on this machine or in a private network
    #[arg(long, value_name = "FILE")]
    trust_agent_ca: Option<PathBuf>,
}

pub(super) async fn run(
    arguments: Arguments,
    environment: Environment,
    output: Output,
) -> Result<Exit, Failure> {
    if arguments.listen.ip() != IpAddr::V4(Ipv4Addr::LOCALHOST) {
        let failure = Failure::new(Exit::Usage, "the demo listens on 127.0.0.1 only");
        return Err(failure.hint("use --listen 127.0.0.1:PORT; `forecourt serve` listens anywhere"));
    }
    let stop = serve::stop_on_signal()?;
    let listener = serve::bind(arguments.listen).await?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
    let folder = Folder::make(&arguments.data).await?;
    let mails = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    let receiver = MailReceiver::start(mails, &folder.leads, MAX_MAIL_BYTES)
        .await
        .map_err(|error| Failure::new(Exit::Unavailable, format!("mail receiver: {error}")))?;
    let crm_port = receiver.address().port().to_string();
    let mut flags = vec![
        flag("server.listen", address.to_string()),
        flag("deployments.demo.leads.deliveries.crm.port", crm_port),
    ];
    let trusted = folder.trust(arguments.trust_agent_ca.as_deref())?;
    flags.push(flag("net.extra_ca_file", trusted.display().to_string()));
    let reach = match arguments.trust_agent_ca {
        None => "net.danger_allow_loopback",
        Some(_) => "net.danger_allow_private_addresses",
    };
    flags.push(flag(reach, "true".to_owned()));
    let config = Config::load(&Sources {
        files: vec![folder.config.clone()],
        flags,
        environment,
    })?;
    let app = App::build(&config, address.port(), Clock::system()).await?;
    announce(&app, &folder, address, output)?;
    app.serve(listener, config.server.settings, stop).await;
    receiver.stop().await;
    Ok(Exit::Fine)
}

fn flag(key: &str, value: String) -> Flag {
    Flag {
        name: "of the demo".to_owned(),
        key: key.to_owned(),
        value,
    }
}

/// What lies in the demo's data folder.
struct Folder {
    root: PathBuf,
    config: PathBuf,
    leads: PathBuf,
}

impl Folder {
    /// Makes what is not there yet; leaves what is.
    async fn make(root: &Path) -> Result<Self, Failure> {
        app::make_private_folder(root)?;
        let root = root
            .canonicalize()
            .map_err(|error| cannot_write(root, &error))?;
        let folder = Self {
            config: root.join("forecourt.toml"),
            leads: root.join("leads"),
            root,
        };
        app::make_private_folder(&folder.leads)?;
        write_once(&folder.config, CONFIG)?;
        write_once(&folder.root.join("mapping.toml"), MAPPING)?;
        fill_database(&folder.root.join("dms.sqlite"), ROWS).await?;
        Ok(folder)
    }
}

impl Folder {
    /// Makes the identity of `forecourt call`, and a file of the authorities whose agents are let in: that
    /// identity's own, which signs nothing more, and `further`.
    fn trust(&self, further: Option<&Path>) -> Result<PathBuf, Failure> {
        let own = AgentFiles::make(&self.root.join("agent"))?.authority;
        let mut text = String::new();
        for file in [Some(own.as_path()), further].into_iter().flatten() {
            text += &fs::read_to_string(file).map_err(|error| {
                Failure::new(Exit::Usage, format!("{}: {error}", file.display()))
            })?;
            text.push('\n');
        }
        let trusted = self.root.join("agent-authorities.pem");
        fs::write(&trusted, text).map_err(|error| cannot_write(&trusted, &error))?;
        Ok(trusted)
    }
}

fn write_once(path: &Path, text: &str) -> Result<(), Failure> {
    if path.exists() {
        return Ok(());
    }
    fs::write(path, text).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Unavailable, format!("{}: {error}", path.display()))
        .hint("choose a writable folder with --data DIR")
}

/// A database filled by `rows` where there is none. Made beside its place and renamed: an interrupted run
/// leaves none.
pub(super) async fn fill_database(path: &Path, rows: &str) -> Result<(), Failure> {
    if path.exists() {
        return Ok(());
    }
    let new = path.with_extension("new");
    if new.exists() {
        fs::remove_file(&new).map_err(|error| cannot_write(&new, &error))?;
    }
    let failure =
        |error: sqlx::Error| Failure::new(Exit::Internal, format!("{}: {error}", new.display()));
    let options = SqliteConnectOptions::new()
        .filename(&new)
        .create_if_missing(true);
    let mut database = SqliteConnection::connect_with(&options)
        .await
        .map_err(failure)?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(rows.to_owned()))
        .execute(&mut database)
        .await
        .map_err(failure)?;
    database.close().await.map_err(failure)?;
    fs::rename(&new, path).map_err(|error| cannot_write(path, &error))
}

fn announce(app: &App, folder: &Folder, address: SocketAddr, output: Output) -> io::Result<()> {
    let Some(deployment) = app.deployments.first() else {
        return Ok(());
    };
    let urls = &deployment.urls;
    let vehicles = deployment
        .inventory
        .as_ref()
        .map_or(0, |inventory| inventory.status().vehicles);
    let (leads, data) = (folder.leads.display(), folder.root.display());
    let mcp = &urls.mcp;
    let text = format!(
        "Forecourt's demo is ready: {vehicles} vehicles of {name}.

  MCP        {mcp}
  A2A        {a2a}
  card       {card}
  llms.txt   {llms_txt}
  inventory  {page}
  PAP        {poppy}
  leads      {leads}  (one .eml for each lead, as the CRM gets it)
  data       {data}  (forecourt.toml, the dealer's database, the ledger)

Find a car:

  curl -s {mcp} -H 'content-type: application/json' \\
    -H 'accept: application/json, text/event-stream' -H 'mcp-protocol-version: 2025-11-25' \\
    -d '{call}'

Or connect any MCP client (Streamable HTTP) to {mcp}
Or see a personal agent at work, both sides of it:

  forecourt call inventory.search --via pap http://{address} --agent {agent}

Ctrl-C ends it.
",
        name = deployment.name(),
        a2a = urls.a2a,
        card = urls.agent_card,
        llms_txt = urls.llms_txt,
        page = urls.inventory_page,
        poppy = urls.poppy,
        agent = folder.root.join("agent").display(),
        call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"aap_inventory_search","arguments":{"type":"inventory.search.request","filters":{"make":["Toyota"]}}}}"#,
    );
    let value = json!({
        "base_url": format!("http://{address}"),
        "mcp": mcp,
        "a2a": urls.a2a,
        "agent_card": urls.agent_card,
        "poppy": urls.poppy,
        "llms_txt": urls.llms_txt,
        "inventory_page": urls.inventory_page,
        "agent_dir": folder.root.join("agent"),
        "leads_dir": folder.leads,
        "data_dir": folder.root,
        "config": folder.config,
        "vehicles": vehicles,
    });
    output.print(&text, &value)
}
