//! The OpenAPI 3.1 description of a deployment's native PAP API (AAP-266): its real server, its own
//! skills and no others, the schemas of its contract. Must not name what is not there.

use serde_json::{Map, Value, json};

use crate::contract::Skill;
use crate::deployment::Deployment;

/// Writes the document; `None` without a native API.
pub fn write(deployment: &Deployment) -> Option<String> {
    let settings = deployment.pap.as_ref()?.settings();
    let mut components = Map::new();
    let mut paths = Map::new();
    for skill in &deployment.skills {
        let path = format!("/skills/{}", skill.id());
        let operation = operation(deployment, *skill, &mut components);
        paths.insert(path, json!({ "post": operation }));
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": format!("{}: native shopping API", deployment.name()),
            "version": deployment.contract.version(),
            "description": "Auto Agent Protocol operations for signed-out Personal Agent Protocol Sessions. Every call needs a Session Token of this issuer and a fresh DPoP proof.",
        },
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
            "schemas": components,
        },
    });
    Some(document.to_string())
}

fn operation(deployment: &Deployment, skill: Skill, components: &mut Map<String, Value>) -> Value {
    let contract = &deployment.contract;
    let name = format!("{}-request", skill.stem());
    let request = component(&name, contract.input_schema(skill), components);
    let name = format!("{}-answer", skill.stem());
    let answer = component(&name, contract.output_schema(skill), components);
    let content = |schema: Value| json!({ "application/json": { "schema": schema } });
    let error = |description: &str| json!({ "description": description, "content": content(answer.clone()) });
    json!({
        "operationId": skill.id(),
        "summary": format!("The skill {}.", skill.id()),
        "x-aap-skill": skill.id(),
        "requestBody": { "required": true, "content": content(request) },
        "responses": {
            "200": { "description": format!("A {}.", skill.response_type()), "content": content(answer.clone()) },
            "401": { "description": "No valid token or proof; see the WWW-Authenticate challenge." },
            "403": error("The customer's consent is missing or does not cover this."),
            "404": error("There is no such skill, dealer or vehicle."),
            "409": error("The request conflicts with what is."),
            "422": error("The request is not acceptable; every problem is listed."),
            "429": error("Too many calls; wait as long as Retry-After says."),
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
            point_to_components(&mut definition);
            components.insert(name, definition);
        }
    }
    point_to_components(&mut schema);
    components.insert(name.to_owned(), schema);
    json!({ "$ref": format!("#/components/schemas/{name}") })
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
