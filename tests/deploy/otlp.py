#!/usr/bin/env python3
"""Has the program send traces and metrics, and reads them with OpenTelemetry's own decoder.

Usage: otlp.py BINARY
"""

import http.client
import http.server
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from machine import DEALER, free

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CONFIG = """
[server]
listen = "127.0.0.1:{port}"
[data]
directory = "{folder}/data"
[telemetry.otlp]
endpoint = "http://127.0.0.1:{collector}"
metrics_interval_s = 1
"""


class Collector(http.server.BaseHTTPRequestHandler):
    traces, metrics = [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        assert self.headers["content-type"] == "application/x-protobuf"
        message, kept = {
            "/v1/traces": (ExportTraceServiceRequest(), self.traces),
            "/v1/metrics": (ExportMetricsServiceRequest(), self.metrics),
        }[self.path]
        message.ParseFromString(body)
        message.DiscardUnknownFields()
        assert message.ByteSize() == len(body), "fields that the schema does not know"
        kept.append(message)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def call(port, fails):
    arguments = {"type": "dealer.information.request"} | ({"strange": 1} if fails else {})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body["params"] = {"name": "aap_dealer_information", "arguments": arguments}
    headers = {
        "Host": "dealer.example",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2025-11-25",
        "traceparent": f"00-{TRACE}-{CALLER}-01",
    }
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    client.request("POST", "/mcp", json.dumps(body), headers)
    assert client.getresponse().status == 200


def spans():
    resources = [one for message in list(Collector.traces) for one in message.resource_spans]
    return [span for one in resources for scope in one.scope_spans for span in scope.spans]


def points(name):
    """Points of a metric in the newest message."""
    if not Collector.metrics:
        return []
    scopes = [scope for one in Collector.metrics[-1].resource_metrics for scope in one.scope_metrics]
    found = [metric for scope in scopes for metric in scope.metrics if metric.name == name]
    return [point for metric in found for point in getattr(metric, metric.WhichOneof("data")).data_points]


def words(attributes):
    return {one.key: one.value.string_value or one.value.int_value for one in attributes}


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        port, config = free(), pathlib.Path(folder, "forecourt.toml")
        config.write_text(CONFIG.format(port=port, folder=folder, collector=server.server_port))
        program = subprocess.Popen([sys.argv[1], "serve", "--config", DEALER, "--config", str(config)], stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 60
            while socket.socket().connect_ex(("127.0.0.1", port)):
                assert program.poll() is None and time.monotonic() < until, "it does not listen"
            call(port, False)
            call(port, True)
            while not (len(spans()) >= 6 and len(points("forecourt_calls_total")) == 2):
                assert time.monotonic() < until, (len(spans()), len(Collector.metrics))
                time.sleep(0.05)
        finally:
            program.send_signal(signal.SIGTERM)
            assert program.wait(20) == 0
    checks = 0
    for span in spans():
        assert span.trace_id.hex() == TRACE and 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        checks += 1
    requests = [span for span in spans() if span.kind == span.SPAN_KIND_SERVER]
    assert [span.parent_span_id.hex() for span in requests] == [CALLER] * 2
    assert {words(span.attributes)["http.response.status_code"] for span in requests} == {200}
    skills = [span for span in spans() if span.name == "dealer.information"]
    outcomes = sorted(words(span.attributes)["aap.outcome"] for span in skills)
    assert outcomes == ["SCHEMA_VALIDATION_FAILED", "ok"], outcomes
    codes = {words(point.attributes)["code"]: point.as_int for point in points("forecourt_calls_total")}
    assert codes == {"ok": 1, "SCHEMA_VALIDATION_FAILED": 1}, codes
    (took,) = points("forecourt_call_duration_seconds")
    assert took.count == 2 == sum(took.bucket_counts) and len(took.bucket_counts) == len(took.explicit_bounds) + 1
    (resource,) = [one.resource for one in Collector.traces[0].resource_spans]
    assert words(resource.attributes)["service.name"] == "forecourt"
    print(f"otlp: {checks + 6} passed, 0 failed")


if __name__ == "__main__":
    main()
