//! Every command that README.md and docs/*.md show. A `sh` block is run line by line in a folder of its page, beside
//! the files that the page shows; a `text` block after it is what its last command prints, `…` standing for anything.
//! The words behind the fence tell the rest: `exits-1` the exit code, `elsewhere` that the command needs a cluster,
//! root or another machine, and is read instead: its words against the program's own parser, its files against ours;
//! `held`, `refused` or `queued` that each line finds a lead in that state, which it calls LEAD.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use forecourt::delivery::MailReceiver;
use serde_json::json;

use crate::cli::forecourt;
use crate::fleet::lead;
use crate::process::{PATIENCE, exchange, free, tool_request};

/// Read as they stand by the tests of configuration and mappings, whose examples are parts of files.
const HELD_ELSEWHERE: [&str; 3] = [
    "docs/mapping.md",
    "docs/sources.md",
    "docs/configuration.md",
];
/// What the pages' files are written about, and what they may need of the project.
const OURS: [&str; 4] = ["mappings", "adf-templates", "deploy", "tests"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A fenced block: its place, what stands behind the fence, its lines without the fence's indentation.
#[derive(Debug)]
struct Block {
    place: String,
    words: Vec<String>,
    lines: Vec<String>,
}

impl Block {
    fn kind(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The file that the block shows.
    fn file(&self) -> Option<&str> {
        let named = matches!(self.kind(), "text" | "toml" | "json" | "diff" | "sql");
        named.then(|| self.words.get(1).map(String::as_str))?
    }

    fn says(&self, word: &str) -> bool {
        self.words.iter().any(|said| said == word)
    }

    /// The exit code that every command of the block ends with.
    fn code(&self) -> i32 {
        let said = self
            .words
            .iter()
            .find_map(|word| word.strip_prefix("exits-"));
        said.map_or(0, |code| code.parse().unwrap())
    }

    fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// Its commands: lines, joined where one ends with a backslash.
    fn commands(&self) -> Vec<String> {
        let text = self.text().replace("\\\n", " ");
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<usize> = None;
    for (number, line) in text.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (fence, open) {
            (Some(_), Some(_)) => open = None,
            (Some(words), None) => {
                open = Some(line.len() - line.trim_start().len());
                blocks.push(Block {
                    place: format!("{page}:{}", number + 1),
                    words: words.split_whitespace().map(str::to_owned).collect(),
                    lines: Vec::new(),
                });
            }
            (None, Some(indent)) => {
                let block = blocks.last_mut().unwrap();
                block
                    .lines
                    .push(line.get(indent..).unwrap_or("").to_owned());
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{page}: a block does not end");
    blocks
}

/// A page as somebody follows it.
struct Walk {
    kept: tempfile::TempDir,
    /// What the page writes, and what stands for it here.
    here: Vec<(String, String)>,
    serving: Option<Child>,
    address: SocketAddr,
    /// Leads submitted so far.
    leads: u32,
    /// Runs the mailbox, which stands for the CRM behind the dealer's relay.
    _crm: (tokio::runtime::Runtime, MailReceiver),
}

impl Walk {
    fn begin(page: &str) -> Self {
        let kept = tempfile::tempdir().unwrap();
        let folder = kept.path();
        for name in OURS {
            symlink(root().join(name), folder.join(name)).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let mailbox = folder.join("crm-mailbox");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let receiver = runtime
            .block_on(MailReceiver::start(any, &mailbox, 1 << 20))
            .unwrap();
        let (address, admin) = (free(), free());
        let relay = format!(
            "host = \"127.0.0.1\"\nport = {}\ntls = \"danger_plaintext\"",
            receiver.address().port()
        );
        let here = [
            ("127.0.0.1:8080", address.to_string()),
            ("127.0.0.1:9090", admin.to_string()),
            ("host = \"smtp.dealer.example\"", relay),
            ("/run/secrets/", format!("{}/secrets/", folder.display())),
            ("/var/lib/forecourt", format!("{}/data", folder.display())),
            ("/etc/forecourt/tls/", format!("{}/tls/", folder.display())),
        ];
        prepare(page, folder);
        Self {
            here: here.map(|(shown, real)| (shown.to_owned(), real)).to_vec(),
            serving: None,
            address,
            leads: 0,
            _crm: (runtime, receiver),
            kept,
        }
    }

    fn folder(&self) -> &Path {
        self.kept.path()
    }

    fn real(&self, text: &str) -> String {
        let replaced = |text: String, (shown, real): &(String, String)| text.replace(shown, real);
        self.here.iter().fold(text.to_owned(), replaced)
    }

    fn shown(&self, text: &str) -> String {
        let replaced = |text: String, (shown, real): &(String, String)| text.replace(real, shown);
        self.here.iter().fold(text.to_owned(), replaced)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = self.real(text);
        for rest in text
            .split(&format!("{}/secrets/", self.folder().display()))
            .skip(1)
        {
            let name = rest.split(['"', '\n', ' ']).next().unwrap();
            let secret = self.folder().join("secrets").join(name);
            fs::create_dir_all(secret.parent().unwrap()).unwrap();
            let database = self.folder().join("dms.sqlite");
            let text = if name.ends_with("/keys") {
                format!("{}=\n", "A".repeat(43))
            } else {
                format!("sqlite://{}\n", database.display())
            };
            fs::write(secret, text).unwrap();
        }
        fs::write(path, text + "\n").unwrap();
    }

    fn command(&self, line: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_forecourt"));
        let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
        let mut command = Command::new("bash");
        command
            .args(["-c", &self.real(line)])
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder())
            .current_dir(self.folder())
            .stdin(Stdio::null());
        command
    }

    /// Runs one line to its end: its exit code, and all it printed.
    fn run(&mut self, line: &str) -> (i32, String) {
        // what cargo would run is the program that is tested here
        let line = &line.replace("cargo run --release -- ", "forecourt ");
        if line.starts_with("forecourt serve") || line.starts_with("forecourt demo") {
            return (0, self.serve(line));
        }
        let output = self.command(line).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code().unwrap(), self.shown(text.trim_end()))
    }

    /// Starts what goes on until the page ends, or until the next such line.
    fn serve(&mut self, line: &str) -> String {
        self.stop();
        let [said, logged] = ["said", "logged"].map(|name| self.folder().join(name));
        let words = || {
            [&said, &logged]
                .map(|file| fs::read_to_string(file).unwrap())
                .concat()
        };
        let demo = line.starts_with("forecourt demo");
        let listen = if demo { " --listen 127.0.0.1:8080" } else { "" };
        let mut command = self.command(&format!("exec {line}{listen}"));
        if !demo {
            // the port that the program would take is not free on every machine
            command.env("FORECOURT_SERVER__LISTEN", self.address.to_string());
        }
        let child = command
            .stdout(File::create(&said).unwrap())
            .stderr(File::create(&logged).unwrap());
        let mut child = child.spawn().unwrap();
        let began = Instant::now();
        let ask = b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
        while TcpStream::connect(self.address).is_err() || exchange(self.address, ask).status != 200
        {
            let ended = child.try_wait().unwrap().is_some();
            assert!(began.elapsed() < PATIENCE && !ended, "{line}\n{}", words());
            std::thread::sleep(Duration::from_millis(20));
        }
        self.serving = Some(child);
        self.shown(words().trim_end())
    }

    /// Runs a line until it ends with this code: a worker may have the lead in its hands for a moment.
    fn patiently(&mut self, line: &str, code: i32) -> (i32, String) {
        let began = Instant::now();
        loop {
            let ended = self.run(line);
            if ended.0 == code || began.elapsed() > PATIENCE {
                return ended;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A new lead in this state; the page's configuration names a relay that is away.
    fn lead(&mut self, state: &str) -> String {
        if self.serving.is_none() {
            self.serve("forecourt serve");
        }
        self.leads += 1;
        let car = json!({ "make": "Honda", "model": "Accord", "year": 2003 });
        let request = lead(&format!("lead-{}", self.leads), &car);
        let request = tool_request("127.0.0.1", "aap_lead_submit", &request);
        let answer = exchange(self.address, &request).json();
        let id = &answer["result"]["structuredContent"]["data"]["lead_id"];
        let id = id.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        let to_here: &[&str] = match state {
            "held" => &["hold ID"],
            "refused" => &["hold ID", "resolve ID --as refused"],
            _ => &[],
        };
        for words in to_here {
            let words = words.replace("ID", &id);
            let (code, printed) = self.patiently(&format!("forecourt leads {words}"), 0);
            assert_eq!(code, 0, "{printed}");
        }
        id
    }

    /// Ends what is served, as an operator does; it ends well.
    fn stop(&mut self) {
        let Some(mut child) = self.serving.take() else {
            return;
        };
        let pid = child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }

    /// Takes out the lines that begin so, and puts the new ones in their place.
    fn edit(&self, block: &Block, file: &str) {
        let path = self.folder().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut at = 0;
        for change in &block.lines {
            if let Some(begins) = change.strip_prefix('-') {
                at = lines
                    .iter()
                    .position(|line| line.starts_with(begins))
                    .unwrap_or_else(|| panic!("{}: no line begins with {begins:?}", block.place));
                lines.remove(at);
            } else {
                let new = change.strip_prefix(['+', ' ']).unwrap_or(change);
                lines.insert(at, self.real(new));
                at += 1;
            }
        }
        fs::write(path, lines.join("\n") + "\n").unwrap();
    }

    /// What the last command printed must be what the page says; what becomes so in a moment is asked again.
    fn compare(&mut self, block: &Block, last: Option<&(String, String)>) {
        let (line, mut printed) = last
            .cloned()
            .unwrap_or_else(|| panic!("{}: of no command", block.place));
        let patient = [
            "forecourt leads",
            "forecourt healthcheck",
            "curl ",
            "cat ",
            "ls ",
            "grep ",
        ];
        let again = patient.iter().any(|begins| line.starts_with(begins));
        let began = Instant::now();
        while again && !is_like(&block.text(), &printed) && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
            printed = self.run(&line).1;
        }
        let same = is_like(&block.text(), &printed);
        assert!(same, "{}: `{line}` prints\n{printed}", block.place);
    }

    /// A part of a configuration, as an operator would add it to one that works.
    fn check(&self, block: &Block) {
        let text = block.text();
        let parsed = toml::from_str::<toml::Table>(&text);
        let table = parsed.unwrap_or_else(|error| panic!("{}: {error}", block.place));
        let known = [
            "server",
            "data",
            "keys",
            "store",
            "net",
            "telemetry",
            "defaults",
            "deployments",
        ];
        if !table.keys().any(|key| known.contains(&key.as_str())) {
            return;
        }
        self.write("parts/base.toml", &base(&table));
        self.write("parts/part.toml", &text);
        let line = "forecourt check --offline --config parts/base.toml --config parts/part.toml";
        let output = self.command(line).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{}: {words}", block.place);
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        if let Some(child) = &mut self.serving {
            // It has ended already, or a test failed; in either case nothing may stay behind.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// What a part of a configuration is added to: a deployment `main` that lacks what the part says itself.
fn base(part: &toml::Table) -> String {
    let main = part
        .get("deployments")
        .and_then(|all| all.get("main"))
        .and_then(toml::Value::as_table);
    let has = |keys: &[&str]| {
        let mut at = main.map(|main| toml::Value::Table(main.clone()));
        for key in keys {
            at = at.and_then(|value| value.get(key).cloned());
        }
        at.is_some()
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut say = |words: &str| text.write_str(words).unwrap();
    if part.get("deployments").is_some() && main.is_none() {
        return text;
    }
    say("[deployments.main]\n");
    if !has(&["domain"]) {
        say("domain = \"dealer.example\"\n");
    }
    if !has(&["profile"]) {
        say(
            "profile = { name = \"Example Motors\", rooftops = [{ name = \"Example Motors\", phones = [{ value = \"+1-312-555-0100\" }] }] }\n",
        );
    }
    if !has(&["inventory"]) {
        say("[deployments.main.inventory]\nmapping = \"../mappings/homenet-csv/mapping.toml\"\n");
        say("source = { kind = \"feed\", path = \"../mappings/homenet-csv/sample.csv\" }\n");
    }
    let ways = part
        .get("defaults")
        .and_then(|defaults| defaults.get("leads")?.get("deliveries"));
    match (has(&["leads", "deliveries"]), ways) {
        (true, _) => {}
        (false, None) => {
            say("[deployments.main.leads.deliveries.crm]\nkind = \"directory\"\npath = \"crm\"\n");
        }
        (false, Some(_)) => {
            say("[deployments.main.leads.deliveries.crm]\nto = [\"leads@crm.example\"]\n");
        }
    }
    text
}

/// What a page supposes to be there before its first line.
fn prepare(page: &str, folder: &Path) {
    let rows = match page {
        "README.md" => {
            "CREATE TABLE VEHICLES (ID, STOCKNO, VIN, NEWUSED, YR, MAKE, MODEL, MILES, PRICE, STATUS, CHANGED);\n\
             INSERT INTO VEHICLES VALUES \
             (1,'U101','1HGCV1F32MA900101','U',2021,'Honda','Accord',28450,24494,'A','2026-11-24 06:05:00'), \
             (2,'U102','1FTFW1E83NFA90102','U',2022,'Ford','F-150',41210,36144,'P','2026-11-27 01:30:00'), \
             (3,'N103','JTMRWRFV1RD900103','N',2024,'Toyota','RAV4',12,36389,'A','2026-11-28 09:45:00');\n"
                .to_owned()
        }
        "docs/operating.md" => return certificate(folder),
        "docs/leads.md" => return relay_away(folder),
        "docs/deployments.md" => return mappings(folder),
        _ => return,
    };
    let file = folder.join("rows.sql");
    fs::write(&file, rows).unwrap();
    let status = Command::new("sqlite3")
        .arg(folder.join("dms.sqlite"))
        .stdin(File::open(&file).unwrap())
        .status()
        .unwrap();
    assert!(status.success());
    fs::remove_file(file).unwrap();
}

/// The mappings that the page's files name.
fn mappings(folder: &Path) {
    fs::create_dir_all(folder.join("parts")).unwrap();
    for name in ["north.toml", "dms.toml"] {
        let preset = root().join("mappings/homenet-csv/mapping.toml");
        fs::copy(preset, folder.join("parts").join(name)).unwrap();
    }
}

/// A dealer whose mail relay is away and who does not give up soon.
fn relay_away(folder: &Path) {
    let port = free().port();
    let text = format!(
        "[deployments.main]\ndomain = \"127.0.0.1\"\nskills = [\"dealer.information\", \"lead.submit\"]\n\
         [deployments.main.profile]\nname = \"Example Motors\"\n[[deployments.main.profile.rooftops]]\n\
         name = \"Example Motors\"\nphones = [{{ value = \"+1-312-555-0100\" }}]\n\
         [deployments.main.leads.deliveries.crm]\nkind = \"smtp\"\nhost = \"127.0.0.1\"\nport = {port}\n\
         tls = \"danger_plaintext\"\nfrom = \"leads@dealer.example\"\nto = [\"crm@intake.example\"]\n\
         retry_first_s = 3600\n"
    );
    fs::write(folder.join("forecourt.toml"), text).unwrap();
}

/// What stands for an operator's certificate.
fn certificate(folder: &Path) {
    let folder = folder.join("tls");
    fs::create_dir(&folder).unwrap();
    let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout tls.key -out tls.crt \
                 -subj /CN=dealer.example -addext subjectAltName=DNS:dealer.example";
    let made = Command::new("openssl")
        .args(words.split_whitespace())
        .current_dir(folder)
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
}

/// Whether a text is like a pattern in which `…` stands for anything.
fn is_like(pattern: &str, text: &str) -> bool {
    let lines = |text: &str| {
        let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
        lines.join("\n")
    };
    let (pattern, text) = (lines(pattern), lines(text));
    let mut parts = pattern.split('…');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap()) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Follows a page from its top to its end; how many commands were run, and how many were read.
fn walk(page: &str) -> (usize, usize) {
    let mut walk = Walk::begin(page);
    let (mut run, mut read) = (0, 0);
    let mut last: Option<(String, String)> = None;
    let mut follows = false;
    for block in blocks(page) {
        match (block.kind(), block.file()) {
            ("sh", _) if block.says("elsewhere") => {
                for line in block.commands() {
                    reading::read(page, &line)
                        .unwrap_or_else(|why| panic!("{}: `{line}`: {why}", block.place));
                    read += 1;
                }
                (last, follows) = (None, false);
                continue;
            }
            ("sh", _) => {
                let state = ["held", "refused", "queued"]
                    .into_iter()
                    .find(|state| block.says(state));
                for line in block.commands() {
                    let lead = state.map(|state| walk.lead(state));
                    let line = line.replace("LEAD", lead.as_deref().unwrap_or("LEAD"));
                    let (code, printed) = match lead {
                        Some(_) => walk.patiently(&line, block.code()),
                        None => walk.run(&line),
                    };
                    assert_eq!(code, block.code(), "{}: `{line}`\n{printed}", block.place);
                    last = Some((line, printed));
                    run += 1;
                }
                follows = true;
                continue;
            }
            ("text", None) if follows => walk.compare(&block, last.as_ref()),
            ("diff", Some(file)) => walk.edit(&block, file),
            (_, Some(file)) => walk.write(file, &block.text()),
            ("toml", None) if !HELD_ELSEWHERE.contains(&page) => walk.check(&block),
            ("json", None) => {
                drop(serde_json::from_str::<serde_json::Value>(&block.text()).unwrap());
            }
            ("text" | "toml" | "sql", None) => {}
            (kind, _) => panic!("{}: a block of an unknown kind: {kind:?}", block.place),
        }
        follows = false;
    }
    walk.stop();
    (run, read)
}

/// README.md and everything in docs/ that people write.
fn pages() -> Vec<String> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<String> = docs
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "md"))
        .map(|path| format!("docs/{}", path.file_name().unwrap().display()))
        .collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

#[test]
fn every_command_of_readme_does_what_it_says() {
    assert!(walk("README.md").0 >= 5);
}

#[test]
fn every_command_of_the_dealer_s_tutorial_does_what_it_says() {
    assert!(walk("docs/tutorial-dealer.md").0 >= 12);
}

#[test]
fn every_command_of_the_lead_network_s_tutorial_does_what_it_says() {
    assert!(walk("docs/tutorial-lead-network.md").0 >= 6);
}

#[test]
fn every_command_of_the_kubernetes_tutorial_is_one() {
    let (run, read) = walk("docs/tutorial-kubernetes.md");
    assert!(run >= 2 && read >= 10, "{run} {read}");
}

#[test]
fn every_command_of_the_walk_through_a_mapping_prints_what_the_page_says() {
    assert!(walk("docs/mapping.md").0 >= 5);
}

#[test]
fn every_command_about_leads_does_what_it_says() {
    let (run, read) = walk("docs/leads.md");
    assert!(run >= 14 && read == 0, "{run} {read}");
}

#[test]
fn every_command_of_every_other_page_does_what_it_says() {
    let apart = ["README.md", "docs/leads.md", "docs/mapping.md"];
    let others = pages()
        .into_iter()
        .filter(|page| !apart.contains(&page.as_str()) && !page.starts_with("docs/tutorial-"));
    for page in others {
        walk(&page);
    }
}

#[test]
fn every_link_of_a_page_leads_to_something() {
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        let folder = root().join(&page).parent().unwrap().to_owned();
        for link in text.split("](").skip(1) {
            let target = link.split(')').next().unwrap();
            if target.contains("://") || target.starts_with('#') {
                continue;
            }
            let path: PathBuf = folder.join(target.split('#').next().unwrap());
            assert!(path.exists(), "{page} leads to {target}");
        }
    }
}

#[test]
fn every_test_that_the_threat_model_names_is_one() {
    let text = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let named: BTreeSet<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.matches('_').count() >= 3)
        .filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
        .collect();
    let mut sources = String::new();
    read_all(&root().join("src"), &mut sources);
    read_all(&root().join("tests/it"), &mut sources);
    for name in &named {
        assert!(sources.contains(&format!("fn {name}(")), "no test {name}");
    }
    assert!(named.len() > 50, "{} tests", named.len());
}

fn read_all(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, text);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

/// What a command's help says, and all below it.
fn help(command: &[&str], examples: &mut Vec<String>) {
    let output = forecourt(&[command, &["--help"]].concat())
        .output()
        .unwrap();
    assert!(output.status.success(), "{command:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let shown = text.lines().map(str::trim);
    examples.extend(
        shown
            .filter(|line| line.starts_with("forecourt "))
            .map(str::to_owned),
    );
    let Some((_, below)) = text.split_once("\nCommands:\n") else {
        return;
    };
    let (below, _) = below.split_once("\n\n").unwrap();
    for line in below.lines() {
        let name = line.split_whitespace().next().unwrap();
        // A description that goes on in the next line stands further in.
        if line.starts_with("  ") && !line.starts_with("   ") && name != "help" {
            help(&[command, &[name]].concat(), examples);
        }
    }
}

#[test]
fn every_example_in_the_help_is_a_command() {
    let mut examples = Vec::new();
    help(&[], &mut examples);
    assert!(examples.len() >= 35, "{}", examples.len());
    for line in examples {
        reading::read("README.md", &line).unwrap_or_else(|why| panic!("`{line}`: {why}"));
    }
}

#[test]
fn dots_stand_for_anything_and_everything_else_for_itself() {
    for (pattern, text, like) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("a…", "ab", true),
        ("…b\n", "a\nb", true),
        ("a…c…e", "abcde", true),
        ("a…c…e", "abce f", false),
        ("", "", true),
    ] {
        assert_eq!(is_like(pattern, text), like, "{pattern:?} {text:?}");
    }
}

mod reading {
    //! Commands that are not run here: whether each could be.

    use std::fs;

    use super::root;
    use crate::cli::forecourt;

    /// Whether the line is a command that there is, over files that there are.
    pub(super) fn read(page: &str, line: &str) -> Result<(), String> {
        let line = line.split(" #").next().unwrap_or(line).trim();
        for part in line.split(" | ").flat_map(|part| part.split(" && ")) {
            part_of(page, part.trim())?;
        }
        Ok(())
    }

    fn part_of(page: &str, part: &str) -> Result<(), String> {
        let part = part.split(" > ").next().unwrap_or(part);
        let words = split(part);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let inner = |separator: &str| {
            let at = words.iter().position(|word| *word == separator);
            at.map(|at| &words[at + 1..])
        };
        match words[..] {
            ["sudo", ..] => part_of(page, part.trim_start_matches("sudo").trim()),
            ["forecourt", ref rest @ ..] => program(rest),
            ["cargo", "run" | "install", ..] => inner("--").map_or(Ok(()), program),
            ["docker", "run", ref rest @ ..] => image(rest),
            ["docker" | "helm" | "install", ..] => files(&words),
            ["kubectl", ..] => {
                files(&words)?;
                names(page, &words)?;
                match inner("--") {
                    Some(["forecourt", rest @ ..]) => program(rest),
                    Some(other) => Err(format!(
                        "{other:?} is run in the pod, where only forecourt is"
                    )),
                    None => Ok(()),
                }
            }
            ["systemctl", _, unit] => there(&format!("deploy/systemd/{unit}.service")),
            ["tests/run", ref steps @ ..] => steps.iter().try_for_each(|step| step_of(step)),
            ["benches/run", ..] => there("benches/run"),
            _ => Err("is of no kind that is known here".to_owned()),
        }
    }

    /// The words of a command line; quotes hold some together.
    fn split(line: &str) -> Vec<String> {
        let (mut words, mut quoted) = (vec![String::new()], None);
        for c in line.chars() {
            match quoted {
                Some(mark) if c == mark => quoted = None,
                None if c == '"' || c == '\'' => quoted = Some(c),
                None if c.is_whitespace() => words.push(String::new()),
                Some(_) | None => words.last_mut().unwrap().push(c),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    /// clap refuses a word it does not know before it comes to `--help`.
    fn program(words: &[&str]) -> Result<(), String> {
        let output = forecourt(&[words, &["--help"]].concat()).output().unwrap();
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// `docker run [FLAGS] IMAGE COMMAND…`
    fn image(words: &[&str]) -> Result<(), String> {
        let at = words.iter().position(|word| word.starts_with("forecourt"));
        let at = at.ok_or("names no image of ours")?;
        program(&words[at + 1..])
    }

    /// Whatever looks like one of our files is there.
    fn files(words: &[&str]) -> Result<(), String> {
        let ours = words.iter().filter(|word| word.starts_with("deploy/"));
        ours.map(|word| word.trim_end_matches('/'))
            .try_for_each(there)
    }

    fn there(path: &str) -> Result<(), String> {
        let path = path.split(':').next().unwrap_or(path);
        root()
            .join(path)
            .exists()
            .then_some(())
            .ok_or(format!("{path} is not there"))
    }

    /// A step of `tests/run` is a function there.
    fn step_of(step: &str) -> Result<(), String> {
        let text = fs::read_to_string(root().join("tests/run")).unwrap();
        let found = text
            .lines()
            .any(|line| line.starts_with(&format!("{step}() {{")));
        found
            .then_some(())
            .ok_or(format!("tests/run has no step {step}"))
    }

    /// `KIND/NAME` names something of deploy/, or of a release that the page installs.
    fn names(page: &str, words: &[&str]) -> Result<(), String> {
        let page = fs::read_to_string(root().join(page)).unwrap();
        let installed = page.split("helm install ").skip(1);
        let releases: Vec<&str> = installed
            .filter_map(|rest| rest.split_whitespace().next())
            .collect();
        let sidecar = fs::read_to_string(root().join("deploy/kubernetes/sidecar.yaml")).unwrap();
        let kinds = [
            "statefulset",
            "deployment",
            "pod",
            "service",
            "svc",
            "secret",
            "configmap",
            "pvc",
        ];
        let own = words.iter().take_while(|word| **word != "--");
        for (kind, name) in own.filter_map(|word| word.split_once('/')) {
            if !kinds.contains(&kind) {
                continue;
            }
            let of_chart = releases
                .iter()
                .any(|release| name.starts_with(&format!("{release}-forecourt")));
            if !of_chart && !sidecar.contains(&format!("name: {name}\n")) {
                return Err(format!("nothing is called {name}"));
            }
        }
        Ok(())
    }
}
