//! What stands under the options in each command's `--help`: lines to copy. A test parses every one of them.
//! Must not explain; the options do.

pub(super) const ALL: &str = "\
First steps:
  forecourt demo
  forecourt call inventory.search --via mcp http://127.0.0.1:8080
  forecourt init
  forecourt mappings init --from vehicles.csv --to mapping.toml
  forecourt check
  forecourt serve

Exit codes: 0 fine, 1 findings, 2 usage, 69 a dependency is away, 70 internal, 78 configuration.";

pub(super) const SERVE: &str = "\
Examples:
  forecourt serve
  forecourt serve --config /etc/forecourt/conf.d --log-format json
  forecourt serve --listen 127.0.0.1:8081 --set server.admin_listen=127.0.0.1:9091";

pub(super) const DEMO: &str = "\
Examples:
  forecourt demo
  forecourt demo --listen 127.0.0.1:0 --data /tmp/demo --output json";

pub(super) const INIT: &str = "\
Examples:
  forecourt init
  forecourt init shop --from vehicles.csv --leads-to leads@crm.example";

pub(super) const GENERATE_COMPLETIONS: &str = "\
Example:
  forecourt generate completions bash";

pub(super) const CALL: &str = "\
Examples, beside a running demo:
  forecourt call inventory.search --via mcp http://127.0.0.1:8080
  forecourt call inventory.search --via pap http://127.0.0.1:8080
  forecourt call inventory.facets --via a2a --output json http://127.0.0.1:8080
  forecourt call lead.submit --via mcp --payload lead.json http://127.0.0.1:8080";

pub(super) const CHECK: &str = "\
Examples:
  forecourt check
  forecourt check --offline --config conf.d";

pub(super) const DOCTOR: &str = "\
Examples:
  forecourt doctor dealer.example
  forecourt doctor http://127.0.0.1:8080 --output json";

pub(super) const MAPPINGS_CHECK: &str = "\
Examples:
  forecourt mappings check
  forecourt mappings check --deployment main --output json
  forecourt mappings check --mapping mapping.toml --input vehicles.csv
  forecourt mappings check --mapping mapping.toml --url sqlite://copy.sqlite";

pub(super) const MAPPINGS_EXPLAIN: &str = "\
Examples:
  forecourt mappings explain --vehicle U10102
  forecourt mappings explain --vehicle U10102 --mapping mapping.toml --input vehicles.csv";

pub(super) const MAPPINGS_INIT: &str = "\
Examples:
  forecourt mappings init --from vehicles.csv --to mapping.toml
  forecourt mappings init --from sqlite://copy.sqlite --table VEHMAST --to mapping.toml
  forecourt mappings init --from main --path /vehicles --items results";

pub(super) const MAPPINGS_TEST: &str = "\
Examples:
  forecourt mappings test mappings/dms-sqlserver
  forecourt mappings test --write .";

pub(super) const INVENTORY_REFRESH: &str = "\
Examples:
  forecourt inventory refresh
  forecourt inventory refresh --deployment main --accept";

pub(super) const LEADS_LIST: &str = "\
Examples:
  forecourt leads list
  forecourt leads list --state held --output json";

pub(super) const LEADS_RESOLVE: &str = "\
Examples:
  forecourt leads resolve lead_01a2 --as delivered
  forecourt leads resolve lead_01a2 --delivery crm --as resend";

pub(super) const LEADS_PURGE: &str = "\
Examples:
  forecourt leads purge --older-than-days 90
  forecourt leads purge --customer robin@mail.example --yes";

pub(super) const ADF_RENDER: &str = "\
Examples:
  forecourt adf render --lead lead.json
  forecourt adf render --lead lead.json --profile us-forms --deployment main";

pub(super) const VALIDATE: &str = "\
Examples:
  forecourt validate --type lead-submit-request lead.json
  forecourt validate --type agent-card -";

pub(super) const KEYS_ROTATE: &str = "\
Examples:
  forecourt keys rotate
  forecourt keys rotate --keep 3 /etc/forecourt/keys";

pub(super) const CONFIG_SHOW: &str = "\
Examples:
  forecourt config show
  forecourt config show --config conf.d --output json";
