#!/usr/bin/env python3
"""Holds what lies under deploy/ to published schemas, to each other, and to the program.

Usage: check.py --binary FILE --helm FILE
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import jsonschema
import kubernetes_validate
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm/forecourt"
# Kinds that Kubernetes itself does not define.
FOREIGN = {"ServiceMonitor"}
KUBERNETES = "1.37.0"


class Faults:
    def __init__(self):
        self.passed, self.found = 0, []

    def that(self, what, fine, more=""):
        if fine:
            self.passed += 1
        else:
            self.found.append(f"{what}: {more}")


def validated(faults, name, text):
    documents = [document for document in yaml.safe_load_all(text) if document]
    for document in documents:
        what = f"{name}: {document['kind']} {document['metadata']['name']}"
        if document["kind"] in FOREIGN:
            faults.that(what, document["spec"]["selector"]["matchLabels"])
            continue
        try:
            kubernetes_validate.validate(document, KUBERNETES, strict=True)
            faults.that(what, True)
        except Exception as error:  # the package has several classes of them
            faults.that(what, False, error)
    return documents


def pods(documents):
    for document in documents:
        if document["kind"] in ("Deployment", "StatefulSet"):
            yield document["spec"]["template"]["spec"]


def hardened(faults, name, documents):
    for pod in pods(documents):
        faults.that(f"{name}: not root", pod["securityContext"]["runAsNonRoot"])
        for container in pod.get("initContainers", []) + pod["containers"]:
            context = container["securityContext"]
            faults.that(f"{name}: {container['name']} gains nothing", not context["allowPrivilegeEscalation"])
            if container["name"] != "forecourt":
                continue
            faults.that(f"{name}: root is read-only", context["readOnlyRootFilesystem"])
            ports = {port["name"] for port in container["ports"]}
            faults.that(f"{name}: waits before it ends", container["lifecycle"]["preStop"]["sleep"]["seconds"])
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                faults.that(f"{name}: {probe}", container[probe]["httpGet"]["port"] in ports)


def render(helm, *arguments):
    command = [helm, "template", "example", str(CHART), "--kube-version", "1.31.0", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def chart(faults, helm):
    lint = subprocess.run([helm, "lint", "--strict", str(CHART)], capture_output=True, text=True)
    faults.that("helm lint", lint.returncode == 0, lint.stdout + lint.stderr)
    everything = ["--set", "serviceMonitor.enabled=true,tlsSecretName=tls,secretName=secrets,storage.className=fast"]
    for arguments, kinds in (([], 6), (everything, 7)):
        rendered = render(helm, *arguments)
        faults.that("helm template", rendered.returncode == 0, rendered.stderr)
        documents = validated(faults, "chart", rendered.stdout)
        faults.that("chart: every kind", len(documents) == kinds, [d["kind"] for d in documents])
        hardened(faults, "chart", documents)
    for wrong in ("replicas=0", "service.port=http", "strange=1", "storage.size=big"):
        faults.that(f"values: {wrong} is refused", render(helm, "--set", wrong).returncode != 0)
    schema = json.loads((CHART / "values.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    faults.that("values.yaml fits its schema", jsonschema.Draft7Validator(schema).is_valid(values))
    return values["config"]


def configurations(faults, binary, texts):
    """Every configuration that is shown is one."""
    for name, text in texts.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "forecourt.toml")
            path.write_text(text)
            environment = {
                "FORECOURT_DATA__DIRECTORY": folder,
                "FORECOURT_SERVER__TRUSTED_PROXIES": '["10.0.0.0/8"]',
                "PATH": os.environ["PATH"],
            }
            command = [binary, "check", "--offline", "--config", str(path)]
            checked = subprocess.run(command, capture_output=True, text=True, env=environment)
            faults.that(f"{name} is a configuration", checked.returncode == 0, checked.stdout + checked.stderr)


def schema(faults, texts):
    """The editors' schema takes every configuration that is shown, and finds a slip in each."""
    text = json.loads((DEPLOY / "forecourt.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(text)
    validator = jsonschema.Draft7Validator(text)
    for name, config in texts.items():
        read = tomllib.loads(config)
        found = [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(read)]
        faults.that(f"{name} fits the schema", not found, found)
        faults.that(f"{name} with a slip does not", not validator.is_valid(read | {"deploymnets": {}}))


def dashboard(faults):
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.rs"))
    written = set(re.findall(r"forecourt_[a-z_]+", source))
    histograms = re.findall(r'"(forecourt_[a-z_]+)",\s*Kind::Histogram', source)
    written |= {f"{name}_{part}" for name in histograms for part in ("bucket", "sum", "count")}
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for name in set(re.findall(r"forecourt_[a-z_]+", " ".join(expressions))):
        faults.that(f"dashboard: {name} is a metric", name in written)
    page = (ROOT / "docs/operating.md").read_text()
    shown = set(re.findall(r"`(forecourt_[a-z_]+)", page))
    faults.that("docs name metrics", len(shown) > 8)
    for name in shown:
        faults.that(f"docs: {name} is a metric", name in written)


def unit(faults):
    text = (DEPLOY / "systemd/forecourt.service").read_text()
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "DynamicUser=yes", "MemoryDenyWriteExecute=yes"):
        faults.that(f"unit: {line}", line in text)
    sections = re.findall(r"^\[(\w+)\]$", text, re.M)
    faults.that("unit: sections", sections == ["Unit", "Service", "Install"], sections)
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", "["))]
    faults.that("unit: every line sets something", all("=" in line for line in lines))


def dockerfile(faults):
    text = (DEPLOY / "Dockerfile").read_text()
    faults.that("Dockerfile: says that it is not built here", "Not built here" in text)
    faults.that("Dockerfile: not root", "USER nonroot" in text)
    for source in re.findall(r"^COPY (?!--)(.+) \S+$", text, re.M):
        for name in source.split():
            faults.that(f"Dockerfile: {name} is there", (ROOT / name).exists())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--helm", required=True)
    arguments = parser.parse_args()
    faults = Faults()
    sidecar = validated(faults, "sidecar", (DEPLOY / "kubernetes/sidecar.yaml").read_text())
    hardened(faults, "sidecar", sidecar)
    shown = {"the sidecar's": next(d for d in sidecar if d["kind"] == "ConfigMap")["data"]["forecourt.toml"]}
    shown["the chart's"] = chart(faults, arguments.helm)["forecourt.toml"]
    configurations(faults, arguments.binary, shown)
    readme = re.findall(r"```toml\b[^\n]*\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    more = {"README's": next(text for text in readme if "[deployments" in text)}
    more["the demo's"] = (ROOT / "demo/forecourt.toml").read_text()
    schema(faults, shown | more)
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    faults.that("compose: read-only", compose["services"]["forecourt"]["read_only"])
    dashboard(faults)
    unit(faults)
    dockerfile(faults)
    for fault in faults.found:
        print(fault)
    print(f"deploy: {faults.passed} passed, {len(faults.found)} failed")
    sys.exit(bool(faults.found))


if __name__ == "__main__":
    main()
