"""Holds a dealer's OpenAPI document against the official validator, and its two forms against each other.

Usage: py_openapi.py BASE. Prints one line a fact; exit code 1 when one does not hold.
"""

import json
import sys

import httpx
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator, validate


def main():
    base = sys.argv[1]
    poppy = httpx.get(f"{base}/.well-known/poppy.json").raise_for_status().json()
    [api] = [api for api in poppy["apis"] if api["type"] == "openapi"]
    answer = httpx.get(api["url"]).raise_for_status()
    document = answer.json()
    validate(document, cls=OpenAPIV31SpecValidator)
    print(f"valid OpenAPI {document['openapi']} with {len(document['paths'])} operations")
    other = httpx.get(api["url"].replace(".json", ".yaml")).raise_for_status()
    if other.headers["content-type"] != "application/yaml":
        sys.exit(f"the YAML form comes as {other.headers['content-type']}")
    if json.dumps(yaml.safe_load(other.text), sort_keys=True) != json.dumps(document, sort_keys=True):
        sys.exit("the YAML form says something else")
    print("the YAML form is the same document")
    broken = json.loads(answer.text)
    broken["paths"]["/skills/dealer.information"]["post"].pop("responses")
    broken["servers"] = "nowhere"
    try:
        validate(broken, cls=OpenAPIV31SpecValidator)
    except Exception:  # the validator's verdict is what is being tested
        print("the validator refuses a broken one")
    else:
        sys.exit("the validator takes everything")


main()
