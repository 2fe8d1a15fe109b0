//! The Personal Agent Protocol from the agent's side: discovery and its checks, a guest Session under a key
//! of its own, one call with a fresh proof.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::super::failure::{Exit, Failure};
use super::identity::{self, Identity};
use super::jws::{self, Key};
use super::wire::{Answer, Wire};
use super::{Call, broken, member};
use crate::clock::Clock;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// Seconds that an assertion is good; 300 is the most (AAP-239).
const ASSERTION_S: i64 = 120;

/// What discovery established.
struct Company {
    issuer: String,
    token_endpoint: String,
    api: String,
    resource: Option<String>,
}

pub(super) async fn call(
    wire: &mut Wire,
    call: &Call,
    arguments: &identity::Who,
) -> Result<Value, Failure> {
    let company = discover(wire, &call.url).await?;
    let agent = Agent {
        identity: Identity::establish(arguments).await?,
        session: Key::fresh()?,
        clock: Clock::system(),
    };
    let token = agent.sign_in(wire, &company).await?;
    agent.ask(wire, &company, call, &token).await
}

/// Finds issuer and API, and checks that the documents belong together (AAP-209, AAP-219, AAP-220).
async fn discover(wire: &mut Wire, origin: &str) -> Result<Company, Failure> {
    let poppy = json_of(wire, &format!("{origin}/.well-known/poppy.json")).await?;
    if member(&poppy, "/protocol_version")? != "0.3" {
        return Err(broken("protocol_version is 0.3"));
    }
    let domain = member(&poppy, "/organization/domain")?;
    if !host(origin).eq_ignore_ascii_case(domain) {
        return Err(broken("organization.domain is the host asked"));
    }
    let issuer = member(&poppy, "/auth/issuer")?;
    let apis = poppy.get("apis").and_then(Value::as_array);
    let api = apis
        .into_iter()
        .flatten()
        .find(|api| api.get("type") == Some(&"openapi".into()))
        .ok_or_else(|| broken("an openapi entry stands in apis"))?;
    let metadata = json_of(wire, &metadata_url(issuer)?).await?;
    if member(&metadata, "/issuer")? != issuer {
        return Err(broken(
            "the metadata's issuer is auth.issuer to the character",
        ));
    }
    let own = format!("https://{domain}");
    let resources = metadata
        .get("protected_resources")
        .and_then(Value::as_array);
    let mut resources = resources.into_iter().flatten().filter_map(Value::as_str);
    if !resources.any(|resource| resource.eq_ignore_ascii_case(&own)) {
        return Err(broken("protected_resources holds the domain"));
    }
    let document = json_of(wire, member(api, "/url")?).await?;
    Ok(Company {
        issuer: issuer.to_owned(),
        token_endpoint: member(&metadata, "/token_endpoint")?.to_owned(),
        api: member(&document, "/servers/0/url")?
            .trim_end_matches('/')
            .to_owned(),
        resource: api
            .get("resource")
            .and_then(Value::as_str)
            .map(str::to_owned),
    })
}

async fn json_of(wire: &mut Wire, url: &str) -> Result<Value, Failure> {
    let answer = wire.get(url).await?;
    if answer.status != 200 {
        let words = format!("{url} answers {}", answer.status);
        return Err(Failure::new(Exit::Findings, words));
    }
    answer.json()
}

/// The host of a URL, without its port.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or(rest);
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// RFC 8414 section 3.1: the well-known part stands before the issuer's path.
fn metadata_url(issuer: &str) -> Result<String, Failure> {
    let (scheme, rest) = issuer
        .split_once("://")
        .filter(|(_, rest)| !rest.contains(['?', '#', '@']))
        .ok_or_else(|| broken("auth.issuer is a URL without query and fragment"))?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (host, path) = match rest.split_once('/') {
        Some((host, path)) => (host, format!("/{path}")),
        None => (rest, String::new()),
    };
    Ok(format!(
        "{scheme}://{host}/.well-known/oauth-authorization-server{path}"
    ))
}

struct Agent {
    identity: Identity,
    /// Names the Session; never published.
    session: Key,
    clock: Clock,
}

impl Agent {
    fn assertion(&self, subject: &str, issuer: &str) -> Result<String, Failure> {
        let now = self.clock.now().as_second();
        let mut header = Map::new();
        header.insert("typ".to_owned(), "JWT".into());
        if let Some(kid) = &self.identity.kid {
            header.insert("kid".to_owned(), kid.as_str().into());
        }
        let claims = json!({
            "iss": self.identity.client_id,
            "sub": subject,
            "aud": issuer,
            "iat": now,
            "exp": now + ASSERTION_S,
            "jti": jws::random_id()?,
        });
        Ok(self.identity.key.sign(header, &claims))
    }

    fn proof(
        &self,
        url: &str,
        nonce: Option<&str>,
        token: Option<&str>,
    ) -> Result<String, Failure> {
        let mut header = Map::new();
        header.insert("typ".to_owned(), "dpop+jwt".into());
        header.insert("jwk".to_owned(), self.session.jwk());
        let mut claims = Map::new();
        claims.insert("htm".to_owned(), "POST".into());
        claims.insert("htu".to_owned(), url.into());
        claims.insert("iat".to_owned(), self.clock.now().as_second().into());
        claims.insert("jti".to_owned(), jws::random_id()?.into());
        if let Some(nonce) = nonce {
            claims.insert("nonce".to_owned(), nonce.into());
        }
        if let Some(token) = token {
            claims.insert("ath".to_owned(), jws::hash(token).into());
        }
        Ok(self.session.sign(header, &Value::Object(claims)))
    }

    /// The guest grant: assertions are fresh each time, and a nonce that is asked for is given once.
    async fn sign_in(&self, wire: &mut Wire, company: &Company) -> Result<String, Failure> {
        let url = &company.token_endpoint;
        let mut answer = self.grant(wire, company, None).await?;
        if let Some(nonce) = nonce_wanted(&answer) {
            answer = self.grant(wire, company, Some(&nonce)).await?;
        }
        let body = answer.json()?;
        if answer.status != 200 {
            let error = body
                .get("error")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let words = format!("{url} answers {}: {error}", answer.status);
            let hint = "a client that is not let in? `forecourt demo` trusts the identity in its own data folder: --agent DIR/agent";
            return Err(Failure::new(Exit::Findings, words).hint(hint));
        }
        if member(&body, "/token_type")? != "DPoP" {
            return Err(broken("token_type is DPoP"));
        }
        Ok(member(&body, "/access_token")?.to_owned())
    }

    async fn grant(
        &self,
        wire: &mut Wire,
        company: &Company,
        nonce: Option<&str>,
    ) -> Result<Answer, Failure> {
        let (url, issuer) = (&company.token_endpoint, &company.issuer);
        let client_id = &self.identity.client_id;
        let mut fields = vec![
            ("grant_type", JWT_BEARER.to_owned()),
            ("client_id", client_id.clone()),
            ("client_assertion_type", ASSERTION_TYPE.to_owned()),
            ("client_assertion", self.assertion(client_id, issuer)?),
            ("assertion", self.assertion(&self.identity.user, issuer)?),
        ];
        fields.extend(company.resource.iter().map(|r| ("resource", r.clone())));
        let encoded: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", percent_encoded(value)))
            .collect();
        let headers = [
            (
                "content-type",
                "application/x-www-form-urlencoded".to_owned(),
            ),
            ("accept", "application/json".to_owned()),
            ("dpop", self.proof(url, nonce, None)?),
        ];
        wire.post(url, &headers, encoded.join("&")).await
    }

    async fn ask(
        &self,
        wire: &mut Wire,
        company: &Company,
        call: &Call,
        token: &str,
    ) -> Result<Value, Failure> {
        let url = format!("{}/skills/{}", company.api, call.skill.id());
        let mut answer = self.attempt(wire, &url, call, token, None).await?;
        if let Some(nonce) = nonce_wanted(&answer) {
            answer = self.attempt(wire, &url, call, token, Some(&nonce)).await?;
        }
        answer.json()
    }

    async fn attempt(
        &self,
        wire: &mut Wire,
        url: &str,
        call: &Call,
        token: &str,
        nonce: Option<&str>,
    ) -> Result<Answer, Failure> {
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json".to_owned()),
            ("authorization", format!("DPoP {token}")),
            ("dpop", self.proof(url, nonce, Some(token))?),
        ];
        wire.post(url, &headers, call.payload.to_string()).await
    }
}

/// The nonce of a challenge (RFC 9449 sections 8 and 9).
fn nonce_wanted(answer: &Answer) -> Option<String> {
    let challenge = answer.header("www-authenticate").unwrap_or_default();
    let body = answer.json().ok();
    let error = body
        .as_ref()
        .and_then(|b| b.get("error"))
        .and_then(Value::as_str);
    let wanted = match answer.status {
        400 => error == Some("use_dpop_nonce"),
        401 => challenge.contains("use_dpop_nonce"),
        _ => false,
    };
    answer
        .header("dpop-nonce")
        .filter(|_| wanted)
        .map(str::to_owned)
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // writing to a String cannot fail
            let _written = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
