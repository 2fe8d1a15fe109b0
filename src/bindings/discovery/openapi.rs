//! The OpenAPI 3.1 description of a deployment's native PAP API (AAP-266): its real server, its own
//! skills and no others, the schemas of its contract. Must not name what is not there.

use serde_json::{Map, Value, json};

use crate::contract::{Contract, Skill};
use crate::deployment::Deployment;

/// Where the same document lies in YAML.
pub fn yaml_url(json_url: &str) -> String {
    format!(
        "{}.yaml",
        json_url.strip_suffix(".json").unwrap_or(json_url)
    )
}

/// Writes the document; `None` without a native API.
pub fn write(deployment: &Deployment) -> Option<Value> {
    let settings = deployment.pap.as_ref()?.settings();
    let mut components = Map::new();
    let mut paths = Map::new();
    for skill in &deployment.skills {
        let path = format!("/skills/{}", skill.id());
        let operation = operation(&deployment.contract, *skill, &mut components);
        paths.insert(path, json!({ "post": operation }));
    }
    Some(json!({
        "openapi": "3.1.0",
        "info": {
            "title": format!("{}: native shopping API", deployment.name()),
            "version": deployment.contract.version(),
            "description": "Auto Agent Protocol operations for signed-out Personal Agent Protocol Sessions. Every call needs a Session Token of this issuer and a fresh DPoP proof.",
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "x-aap-extension": deployment.contract.extension_uri(),
        "servers": [{ "url": settings.resource }],
        "security": [{ "poppySession": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "poppySession": {
                    "type": "http",
                    "scheme": "DPoP",
                    "description": format!("A DPoP-bound guest Session Token (RFC 9449) of {}, for the resource {}.", settings.issuer, settings.resource),
                },
            },
            "parameters": { "DPoP": {
                "name": "DPoP",
                "in": "header",
                "required": true,
                "description": "A fresh proof for this call (RFC 9449), by the key that the Session Token is bound to.",
                "schema": { "type": "string" },
            } },
            "responses": { "Unauthorized": unauthorized() },
            "schemas": components,
        },
    }))
}

fn unauthorized() -> Value {
    json!({
        "description": "No valid token or proof; nothing was run.",
        "headers": {
            "WWW-Authenticate": {
                "description": "The DPoP challenge with its error.",
                "schema": { "type": "string" },
            },
            "DPoP-Nonce": {
                "description": "The nonce that the next proof must carry, where one is asked for.",
                "schema": { "type": "string" },
            },
        },
        "content": { "application/json": { "schema": {
            "type": "object",
            "required": ["error"],
            "properties": { "error": { "type": "string" } },
        } } },
    })
}

fn operation(contract: &Contract, skill: Skill, components: &mut Map<String, Value>) -> Value {
    let name = format!("{}-request", skill.stem());
    let request = component(&name, contract.input_schema(skill), components);
    let name = format!("{}-answer", skill.stem());
    let answer = component(&name, contract.output_schema(skill), components);
    let content = |schema: Value| json!({ "application/json": { "schema": schema } });
    let error = |description: &str| json!({ "description": description, "content": content(answer.clone()) });
    let mut too_many = error("Too many calls; wait as long as Retry-After says.");
    if let Some(members) = too_many.as_object_mut() {
        let wait = json!({ "Retry-After": {
            "description": "Seconds to wait.", "schema": { "type": "integer", "minimum": 1 },
        } });
        members.insert("headers".to_owned(), wait);
    }
    json!({
        "operationId": skill.id(),
        "summary": format!("The skill {}.", skill.id()),
        "x-aap-skill": skill.id(),
        "parameters": [{ "$ref": "#/components/parameters/DPoP" }],
        "requestBody": { "required": true, "content": content(request) },
        "responses": {
            "200": { "description": format!("A {}.", skill.response_type()), "content": content(answer.clone()) },
            "401": { "$ref": "#/components/responses/Unauthorized" },
            "403": error("The customer's consent is missing or does not cover this."),
            "404": error("There is no such skill, dealer or vehicle."),
            "409": error("The request conflicts with what is."),
            "422": error("The request is not acceptable; every problem is listed."),
            "429": too_many,
            "500": error("The dealer's systems could not answer."),
        },
    })
}

/// Puts a self-contained schema and its definitions among the components; returns the reference to it.
fn component(name: &str, schema: &Value, components: &mut Map<String, Value>) -> Value {
    let mut schema = schema.clone();
    let definitions = schema
        .as_object_mut()
        .and_then(|root| root.shift_remove("$defs"));
    if let Some(Value::Object(definitions)) = definitions {
        for (name, mut definition) in definitions {
            settle(&mut definition);
            components.insert(name, definition);
        }
    }
    settle(&mut schema);
    components.insert(name.to_owned(), schema);
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Makes a schema a part of this document: its references lead to the components, and it has no base or
/// dialect of its own.
fn settle(schema: &mut Value) {
    if let Some(root) = schema.as_object_mut() {
        root.shift_remove("$schema");
        root.shift_remove("$id");
    }
    point_to_components(schema);
}

fn point_to_components(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("$ref", Value::String(target)) => {
                        *target = target.replace("#/$defs/", "#/components/schemas/");
                    }
                    (_, member) => point_to_components(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(point_to_components),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
