"""Faults at every step, with real stores and receivers: no accepted lead is lost, none arrives twice, and every
retry gets the first answer. Receivers count by their own parse; the ledger is asked only where a person would."""

import json
import random
import resource
import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import leads
import product
import raw
from receivers import HttpReceiver, Scheduling, SmtpReceiver
from redis_server import Authority, Redis

EXTRA = """
[deployments.demo.leads.deliveries.web]
kind = "http"
url = "http://127.0.0.1:{http}/adf"
danger_allow_http = true
vehicleless = "plain_text"
copy = true
timeout_s = 3
retry_first_s = 1
concurrency = 8
delivered = "status == 200 and json.success"
retry = "status == 503"
"""
REDIS = """
[store]
kind = "redis"
url = "redis://127.0.0.1:{port}"
prefix = "{prefix}"
"""
SCHEDULING = """
[deployments.demo.leads.scheduling]
url = "http://127.0.0.1:{port}/book"
danger_allow_http = true
timeout_s = 2
outcome = "json.state"
confirmed_at = "json.at"
"""
STORES = ("embedded", "redis")


class Stage:
    """A folder with the demo's data, a CRM by mail and one by HTTP, and as many processes as a test wants."""

    def __init__(self, binary, template, folder, redis=None, prefix="x"):
        self.binary = binary
        self.folder = Path(folder)
        shutil.copytree(template, self.folder)
        self.smtp, self.http = SmtpReceiver(), HttpReceiver()
        text = EXTRA.format(http=self.http.port)
        if redis is not None:
            text += REDIS.format(port=redis if isinstance(redis, int) else redis.port, prefix=prefix)
        (self.folder / "extra.toml").write_text(text)
        self.processes = []

    def add(self, text):
        """More of the configuration."""
        with (self.folder / "extra.toml").open("a") as file:
            file.write(text)

    def flags(self, data=None):
        configs = ["--config", str(self.folder / "forecourt.toml"), "--config", str(self.folder / "extra.toml")]
        sets = ["--set", f"deployments.demo.leads.deliveries.crm.port={self.smtp.port}"]
        sets += ["--set", "deployments.demo.leads.deliveries.crm.step_timeout_s=10"]
        if data is not None:
            sets += ["--set", f"data.directory={data}"]
        return [*configs, *sets]

    def serve(self, point=None, data=None):
        port = product.free_port()
        arguments = ["serve", "--listen", f"127.0.0.1:{port}", *self.flags(data)]
        environment = {}
        if point:
            self.reached = self.folder / "reached"
            self.reached.unlink(missing_ok=True)
            environment = {"FAIL_POINT": point, "FAIL_POINT_FILE": str(self.reached), "TOKIO_WORKER_THREADS": "8"}
        url = f"http://127.0.0.1:{port}/mcp"
        process = product.Product(self.binary, arguments, self.folder / "log", url, environment)
        self.processes.append(process)
        return process

    def command(self, *words):
        """A command beside the running process; its JSON."""
        words = [self.binary, *words[:2], *self.flags(), "--output", "json", *words[2:]]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout) if done.returncode == 0 else {"code": done.returncode, "said": done.stderr}

    def states(self, lead_id):
        found = self.command("leads", "list").get("leads", [])
        lead = next((lead for lead in found if lead["lead_id"] == lead_id), {"deliveries": []})
        return {one["target"]: one["state"] for one in lead["deliveries"]}

    def close(self):
        for process in self.processes:
            if process.process.poll() is None:
                process.kill()
        self.smtp.close()
        self.http.close()


CAR = {"year": 2022, "make": "Tesla", "model": "Model 3", "condition": "used"}


def lead(name):
    return leads.lead(name, CAR)


def submit(process, request, binding="mcp"):
    """The typed payload of the answer; `None` when the connection was lost."""
    base = process.ready["mcp"]
    try:
        if binding == "mcp":
            status, _, body = raw.answered(base, raw.call("aap_lead_submit", request))
            return json.loads(body)["result"]["structuredContent"] if status == 200 else None
        parts = [{"data": request, "mediaType": "application/vnd.autoagent.lead-submit-request+json"}]
        message = {"messageId": request["idempotency_key"], "role": "ROLE_USER", "parts": parts}
        call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
        url = urlsplit(base)._replace(path="/a2a").geturl()
        headers = ["A2A-Version: 1.0", "A2A-Extensions: https://autoagentprotocol.org/extensions/aap/v3.0"]
        status, _, body = raw.answered(url, json.dumps(call).encode(), headers)
        answer = json.loads(body)
        return answer["result"]["message"]["parts"][0]["data"] if "result" in answer else answer
    except (OSError, ValueError, KeyError):
        return None


def taken(answer):
    return isinstance(answer, dict) and answer.get("data", {}).get("status") == "received"


def submit_until_taken(process, request, seconds=30):
    found = []

    def once():
        found.append(submit(process, request))
        return taken(found[-1])

    product.until(once, seconds)
    return found[-1]


def as_replay(answer):
    return answer | {"data": answer["data"] | {"replayed": True}}


# Where the process is killed; what its caller knows then, and where the deliveries stand at the end.
POINTS = {
    "accept.before": ("retry is new", "delivered"),
    "accept.journaled": ("retry is new", "delivered"),
    "accept.after": ("retry is a replay", "delivered"),
    "worker.taken": ("answered", "delivered"),
    "worker.marked": ("answered", "held"),
    "worker.transmitted": ("answered", "held"),
    "ending.journaled": ("answered", "delivered"),
    "worker.finished": ("answered", "delivered"),
}


def kill_at(checks, binary, template, folder, store, point, redis):
    """Kills the process at one step, starts it again, and counts at both receivers."""
    name = f"{store}-{point}"
    if point.endswith("journaled") and store == "embedded":
        return
    stage = Stage(binary, template, folder / name, redis if store == "redis" else None, name)
    try:
        request = lead(name)
        address = request["customer"]["email"]
        process = stage.serve(point)
        answers = []
        asking = threading.Thread(target=lambda: answers.append(submit(process, request)))
        asking.start()
        # the two deliveries stand at the same step
        times = 1 if point.startswith("accept") else 2
        reached = lambda: stage.reached.exists() and stage.reached.stat().st_size == times
        checks.that(f"{name}: the step is reached", bool(product.until(reached, 20)), stage.reached)
        after, kind = POINTS[point]
        if after == "answered":
            asking.join(20)
        process.kill()
        asking.join(20)
        process = stage.serve()
        first = answers[0] if answers and taken(answers[0]) else None
        checks.equal(f"{name}: answered before the kill", first is not None, after == "answered")
        again = submit_until_taken(process, request)
        replayed = isinstance(again, dict) and again.get("data", {}).get("replayed") is True
        checks.equal(f"{name}: the retry is a replay", replayed, after != "retry is new")
        if first:
            checks.equal(f"{name}: the retry gets the first answer", again, as_replay(first))
        follow(checks, name, stage, again, address, kind)
    finally:
        stage.close()


def follow(checks, name, stage, answer, address, kind):
    """What the receivers have in the end."""
    lead_id = answer["data"]["lead_id"] if taken(answer) else None
    receivers = {"crm": stage.smtp, "web": stage.http}
    settled = lambda: all(s in ("held", "delivered") for s in stage.states(lead_id).values()) and stage.states(lead_id)
    states = product.until(settled, 30) or stage.states(lead_id)
    held = [target for target, state in states.items() if state == "held"]
    # a kill around the answer may catch a worker at any step
    if not name.split("-", 1)[1].startswith("accept"):
        checks.equal(f"{name}: how many are held", len(held), 2 if kind == "held" else 0)
    for target, receiver in receivers.items():
        count = receiver.count(address)
        checks.that(f"{name}: {target} has it at most once", count <= 1, count)
        if target in held:
            decision = "delivered" if count else "resend"
            stage.command("leads", "resolve", lead_id, "--delivery", target, "--as", decision)
        if name.endswith(("marked", "transmitted")):
            checks.equal(f"{name}: {target} has it before anybody decides", count, 1 if name.endswith("transmitted") else 0)
        product.until(lambda r=receiver: r.count(address) == 1, 20)
        checks.equal(f"{name}: {target} has it once in the end", receiver.count(address), 1)


# AAP-484 AAP-485 AAP-577
def check_kills(binary, template, folder, checks):
    redis = Redis(folder / "kills-redis")
    jobs = [(store, point) for store in STORES for point in POINTS]
    with ThreadPoolExecutor(4) as pool:
        run = lambda job: kill_at(checks, binary, template, folder, *job, redis)
        for done in [pool.submit(run, job) for job in jobs]:
            done.result()
    redis.kill()


# Where the process is killed over the question whether an appointment can be booked, and how often the system
# was asked by then.
QUESTIONS = {"booking.claimed": 0, "while it is asked": 1, "booking.asked": 1}


def kill_over_question(checks, binary, template, folder, store, point, redis):
    """Kills the process around the question; the system is never asked again, and the lead arrives once."""
    name = f"{store}-{point}".replace(" ", "-")
    stage = Stage(binary, template, folder / name, redis if store == "redis" else None, name)
    system = Scheduling()
    try:
        stage.add(SCHEDULING.format(port=system.port))
        request = leads.lead(name, CAR, appointment={"appointment_type": "test_drive", "appointment_at": leads.at(60 * 24)})
        address, asked = request["customer"]["email"], QUESTIONS[point]
        if point.startswith("booking"):
            process = stage.serve(point)
            reached = lambda: stage.reached.exists()
        else:
            system.mode = "hang"
            process = stage.serve()
            reached = lambda: system.asked[address] == 1
        answers = []
        asking = threading.Thread(target=lambda: answers.append(submit(process, request)))
        asking.start()
        checks.that(f"{name}: the step is reached", bool(product.until(reached, 20)))
        process.kill()
        asking.join(20)
        checks.that(f"{name}: nobody was answered", not any(taken(answer) for answer in answers), answers)
        system.mode = "book"
        process = stage.serve()
        again = submit_until_taken(process, request, 40)
        if checks.that(f"{name}: the retry is accepted", taken(again), again):
            checks.equal(f"{name}: the appointment is requested, not booked", again["data"]["appointment"]["status"], "requested")
            checks.equal(f"{name}: every retry gets the same", submit(process, request), as_replay(again))
            arrived(checks, stage, request)
            states = stage.states(again["data"]["lead_id"])
            checks.equal(f"{name}: a person has to look after it", states, {"crm": "delivered", "web": "delivered", "scheduling": "held"})
            stage.command("leads", "resolve", again["data"]["lead_id"], "--as", "delivered")
            settled = stage.states(again["data"]["lead_id"])
            checks.equal(f"{name}: and says when it is done", settled["scheduling"], "delivered")
        checks.equal(f"{name}: how often the system was asked", system.asked[address], asked)
        for receiver in (stage.smtp, stage.http):
            checks.equal(f"{name}: delivered once", receiver.count(address), 1)
    finally:
        system.close()
        stage.close()


# AAP-468 AAP-482 AAP-484
def check_questions(binary, template, folder, checks):
    redis = Redis(folder / "questions-redis")
    jobs = [(store, point) for store in STORES for point in QUESTIONS]
    with ThreadPoolExecutor(3) as pool:
        run = lambda job: kill_over_question(checks, binary, template, folder, *job, redis)
        for done in [pool.submit(run, job) for job in jobs]:
            done.result()
    redis.kill()


# AAP-471 AAP-477
def check_no_time(binary, template, folder, checks):
    """A system that has no time at all: the same refusal over both bindings and to every retry, and no delivery."""
    stage = Stage(binary, template, folder / "no-time")
    system = Scheduling()
    try:
        stage.add(SCHEDULING.format(port=system.port))
        system.mode = "unavailable"
        process = stage.serve()
        request = leads.lead("no-time", CAR, appointment={"appointment_type": "sales", "appointment_at": leads.at(60)})
        over_mcp, again = submit(process, request), submit(process, request)
        for said in (over_mcp, again):
            checks.equal("no time: refused with its code", (said or {}).get("code"), "APPOINTMENT_TIME_UNAVAILABLE")
            checks.equal("no time: no use in trying again", (said or {}).get("retryable"), False)
        error = submit(process, request, "a2a").get("error", {})
        checks.equal("no time: the same over A2A", (error.get("code"), error.get("data", [{}])[0].get("reason")), (-32000, "APPOINTMENT_TIME_UNAVAILABLE"))
        checks.equal("no time: asked once", system.asked.total(), 1)
        marker = lead("no-time-marker")
        checks.that("no time: others are accepted", taken(submit(process, marker)))
        arrived(checks, stage, marker)
        checks.equal("no time: delivered nowhere", (stage.smtp.total(), stage.http.total()), (1, 1))
    finally:
        system.close()
        stage.close()


# AAP-485 AAP-577
def check_receivers(binary, template, folder, checks):
    """Receivers that fail in every way that leaves the sender in doubt, or does not."""
    stage = Stage(binary, template, folder / "receivers")
    try:
        process = stage.serve()
        seen = {}
        for smtp, http in (("drop", "hang"), ("later", "busy"), ("never", "wrong"), ("slow", "take")):
            stage.smtp.mode, stage.http.mode = smtp, http
            request = lead(f"{smtp}-{http}")
            answer = submit(process, request)
            checks.that(f"accepted while the receivers {smtp} and {http}", taken(answer), answer)
            lead_id, address = answer["data"]["lead_id"], request["customer"]["email"]
            busy = lambda i=lead_id: not any(s in ("queued", "sending") for s in stage.states(i).values()) and stage.states(i)
            seen[smtp] = (lead_id, address, product.until(busy, 20) or stage.states(lead_id))
        checks.equal("lost after DATA, silent after the body: held", seen["drop"][2], {"crm": "held", "web": "held"})
        checks.equal("451 and 503: tried again", seen["later"][2], {"crm": "waiting", "web": "waiting"})
        checks.equal("550: refused; a page instead of an answer: held", seen["never"][2], {"crm": "refused", "web": "held"})
        checks.equal("slow is delivered", seen["slow"][2], {"crm": "delivered", "web": "delivered"})
        stage.smtp.mode = stage.http.mode = "take"
        stage.http.let_go.set()
        lead_id, address, _ = seen["later"]
        both = lambda: stage.smtp.count(address) == 1 and stage.http.count(address) == 1
        checks.that("what had to wait arrives", product.until(both, 30), stage.states(lead_id))
        for receiver in (stage.smtp, stage.http):
            checks.equal("nothing arrived twice", receiver.twice(), [])
        _, address, _ = seen["drop"]
        checks.equal("what is held was not sent again", (stage.smtp.count(address), stage.http.count(address)), (1, 1))
        asked_for_time(checks, stage, process)
    finally:
        stage.close()


def asked_for_time(checks, stage, process):
    """A receiver that asks for three seconds gets them, though the sender would be back after one."""
    stage.http.mode = "ask"
    posts = len(stage.http.posts)
    request = lead("asked-for-time")
    checks.that("accepted while the receiver asks for time", taken(submit(process, request)))
    product.until(lambda: len(stage.http.posts) > posts, 20)
    stage.http.mode = "take"
    arrived(checks, stage, request)
    first, second, *more = stage.http.posts[posts:]
    checks.that("nothing came before its time", second - first >= 3 and not more, (second - first, more))


# AAP-484 AAP-577
def check_redis(binary, template, folder, checks):
    """Redis goes away, stands still, comes back, is emptied, and fails over to a replica that lagged."""
    redis = Redis(folder / "redis")
    proxy = Proxy(redis.port)
    stage = Stage(binary, template, folder / "redis-stage", proxy.port, "r")
    try:
        process = stage.serve()
        first = lead("redis-first")
        answer = submit_until_taken(process, first)
        checks.that("accepted", taken(answer), answer)
        arrived(checks, stage, first)
        redis.kill()
        refused(checks, process, "while Redis is away")
        redis.start()
        second = lead("redis-second")
        checks.that("accepted once it is back", taken(submit_until_taken(process, second)))
        arrived(checks, stage, second)
        redis.freeze()
        third = lead("redis-third")
        frozen = submit(process, third)
        checks.that("refused while Redis stands still", not taken(frozen), frozen)
        search_works(checks, process)
        redis.thaw()
        checks.that("a retry is taken when it moves again", taken(submit_until_taken(process, third)))
        arrived(checks, stage, third)
        redis.ask("FLUSHALL")
        again = submit_until_taken(process, first)
        checks.equal("emptied: a retry still gets the first answer", again, as_replay(answer))
        redis.lose_everything()
        again = submit_until_taken(process, first)
        checks.equal("lost with its disk: a retry still gets the first answer", again, as_replay(answer))
        fail_over(checks, stage, process, redis, proxy, folder)
        for receiver in (stage.smtp, stage.http):
            checks.equal("nothing arrived twice", receiver.twice(), [])
    finally:
        stage.close()
        proxy.close()


def fail_over(checks, stage, process, redis, proxy, folder):
    replica = Redis(folder / "replica", replica_of=redis.port)
    synced = lambda: "master_link_status:up" in replica.ask("INFO", "replication")
    checks.that("a replica follows", product.until(synced, 20))
    known = lead("failover-known")
    checks.that("accepted before the failover", taken(submit_until_taken(process, known)))
    arrived(checks, stage, known)
    replica.freeze()
    late = lead("failover-late")
    answer = submit_until_taken(process, late)
    checks.that("accepted while the replica lags", taken(answer), answer)
    arrived(checks, stage, late)
    redis.kill()
    replica.thaw()
    replica.ask("REPLICAOF", "NO", "ONE")
    proxy.target = replica.port
    again = submit_until_taken(process, late)
    checks.equal("after the failover a retry gets the first answer", again, as_replay(answer))
    new = lead("failover-new")
    checks.that("and new leads are accepted", taken(submit_until_taken(process, new)))
    arrived(checks, stage, new)
    states = stage.states(answer["data"]["lead_id"])
    checks.equal("what was delivered is known as delivered", states, {"crm": "delivered", "web": "delivered"})
    replica.kill()


class Proxy:
    """Passes bytes on to whichever server is the master."""

    def __init__(self, target):
        import socket

        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        import socket

        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target), 2)
            except OSError:
                client.close()
                continue
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pass_on(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(2)
            except OSError:
                pass

    def close(self):
        self.listener.close()


def arrived(checks, stage, request):
    address = request["customer"]["email"]
    both = lambda: stage.smtp.count(address) == 1 and stage.http.count(address) == 1
    checks.that(f"{address} arrives at both", product.until(both, 40), (stage.smtp.arrived, stage.http.arrived))


def refused(checks, process, when):
    answer = submit(process, lead("refused"))
    error = answer if isinstance(answer, dict) else {}
    checks.that(f"a lead gets a retryable error {when}", error.get("retryable") is True or error.get("error", {}).get("retryable") is True, answer)
    search_works(checks, process)


def search_works(checks, process):
    status, _, body = raw.answered(process.ready["mcp"], raw.call("aap_inventory_search", {"type": "inventory.search.request"}))
    checks.that("reads go on", status == 200 and b'"vehicles"' in body, (status, body[:200]))


# AAP-484
def check_full_disk(binary, template, folder, checks):
    """The store's file may not grow: nothing is accepted that was not written, and it goes on when there is room."""
    stage = Stage(binary, template, folder / "full")
    try:
        process = stage.serve()
        checks.that("accepted", taken(submit(process, lead("room"))))
        size = max(path.stat().st_size for path in stage.folder.glob("forecourt.db*"))
        _, hard = resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (size, hard))
        requests = [lead(f"full-{number}") for number in range(30)]
        accepted = [r for r in requests if taken(submit(process, r))]
        checks.that("a full disk refuses leads", len(accepted) < len(requests), len(accepted))
        checks.that("and the process lives", process.process.poll() is None)
        resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        for request in requests:
            checks.that("taken once there is room", taken(submit_until_taken(process, request)))
        for request in requests:
            arrived(checks, stage, request)
        for receiver in (stage.smtp, stage.http):
            checks.equal("nothing arrived twice", receiver.twice(), [])
    finally:
        stage.close()


# AAP-475 AAP-476 AAP-484
def check_flood(binary, template, folder, checks):
    """512 times the same lead at once over both bindings of anonymous callers."""
    stage = Stage(binary, template, folder / "flood")
    try:
        process = stage.serve()
        request = lead("flood")
        with ThreadPoolExecutor(64) as pool:
            answers = list(pool.map(lambda n: submit(process, request, "mcp" if n % 2 else "a2a"), range(512)))
        first = [a for a in answers if taken(a) and "replayed" not in a["data"]]
        checks.equal("one first answer", len(first), 1)
        expected = as_replay(first[0]) if first else None
        replays = [a for a in answers if a == expected]
        checks.equal("511 identical replays", len(replays), 511)
        arrived(checks, stage, request)
        checks.equal("one delivery", (stage.smtp.total(), stage.http.total()), (1, 1))
    finally:
        stage.close()


# AAP-484 AAP-577
def check_race(binary, template, folder, checks, store):
    """Two processes and 1,000 submissions, a third of them retries."""
    redis = Redis(folder / "race-server") if store == "redis" else None
    stage = Stage(binary, template, folder / f"race-{store}", redis)
    try:
        second_data = None
        if redis:
            second_data = stage.folder / "second"
            second_data.mkdir()
            shutil.copy(stage.folder / "keys", second_data / "keys")
        processes = [stage.serve(), stage.serve(data=second_data)]
        fresh = [lead(f"race-{store}-{number}") for number in range(667)]
        chance = random.Random(7)
        order = fresh + chance.sample(fresh, 333)
        chance.shuffle(order)
        with ThreadPoolExecutor(24) as pool:
            answers = list(pool.map(lambda job: submit_until_taken(processes[job[0] % 2], job[1], 60), enumerate(order)))
        by_key = {}
        for request, answer in zip(order, answers):
            by_key.setdefault(request["idempotency_key"], []).append(answer)
        checks.that(f"{store}: all are answered", all(taken(a) for a in answers), [a for a in answers if not taken(a)][:3])
        odd = [group for group in by_key.values() if not one_first(group)]
        checks.equal(f"{store}: one first answer each, the rest its replays", odd[:2], [])
        whole = lambda: stage.http.total() >= 667 and stage.smtp.total() >= 667
        product.until(whole, 60)
        for kind, receiver in (("mail", stage.smtp), ("HTTP", stage.http)):
            checks.equal(f"{store}: leads by {kind}", receiver.total(), 667)
            checks.equal(f"{store}: none twice by {kind}", receiver.twice(), [])
    finally:
        stage.close()
        if redis:
            redis.kill()


def one_first(group):
    first = [a for a in group if taken(a) and "replayed" not in a["data"]]
    return len(first) == 1 and all(a == first[0] or a == as_replay(first[0]) for a in group)


# AAP-484
def check_topologies(binary, template, folder, checks):
    """A Cluster, and a Sentinel whose master dies, asked for one confirming replica."""
    nodes, urls = cluster(folder, "node", "redis")
    through_store(binary, template, folder / "cluster", f"nodes = [{urls}]\ncluster = true", checks, lambda: None)
    for node in nodes:
        node.kill()
    master = Redis(folder / "master")
    replica = Redis(folder / "watched", replica_of=master.port)
    product.until(lambda: "master_link_status:up" in replica.ask("INFO", "replication"), 20)
    sentinel = Redis(folder / "sentinel", watches=master.port)
    product.until(lambda: "slaves=1" in sentinel.ask("INFO", "sentinel"), 30)
    store = f'nodes = ["redis://127.0.0.1:{sentinel.port}"]\nsentinel_master = "watched"\nwait_replicas = 1\nwait_ms = 500'
    through_store(binary, template, folder / "watch", store, checks, master.kill)
    for server in (replica, sentinel):
        server.kill()


def cluster(folder, name, scheme, tls=None):
    """Three nodes that found each other, and their URLs for a configuration."""
    nodes, meet = [], ["redis-cli", *(["--tls", "--cacert", str(tls.certificate)] if tls else []), "--cluster", "create"]
    for number in range(3):
        more = ["--cluster-enabled", "yes", "--cluster-port", str(product.free_port())]
        nodes.append(Redis(folder / f"{name}-{number}", more=more, tls=tls))
        meet.append(f"127.0.0.1:{nodes[-1].port}")
    subprocess.run([*meet, "--cluster-yes"], stdout=subprocess.DEVNULL, check=True, timeout=30)
    product.until(lambda: all("cluster_state:ok" in node.ask("CLUSTER", "INFO") for node in nodes), 20)
    return nodes, ", ".join(f'"{scheme}://127.0.0.1:{node.port}"' for node in nodes)


# AAP-484
def check_tls(binary, template, folder, checks):
    """Redis over TLS by an authority of the operator's own; with another authority nothing starts, and it is said why."""
    ours, others = Authority(folder / "authority"), Authority(folder / "other-authority")
    redis = Redis(folder / "tls-redis", tls=ours)
    url = f'url = "rediss://localhost:{redis.port}"'
    trusting = f'{url}\nca_file = "{ours.certificate}"'
    through_store(binary, template, folder / "tls", trusting, checks, redis.restart)
    trust = f'ca_file = "{ours.certificate}"'
    sentinel = Redis(folder / "tls-sentinel", watches=redis.port, tls=ours)
    watched = f'nodes = ["rediss://localhost:{sentinel.port}"]\nsentinel_master = "watched"\nprefix = "watched"\n{trust}'
    through_store(binary, template, folder / "tls-watch", watched, checks, redis.restart)
    nodes, urls = cluster(folder, "tls-node", "rediss", ours)
    through_store(binary, template, folder / "tls-cluster", f"nodes = [{urls}]\ncluster = true\n{trust}", checks, lambda: None)
    for server in (sentinel, *nodes):
        server.kill()
    for name, store, words in (
        ("wrong-authority", f'{url}\nca_file = "{others.certificate}"', "store.ca_file must hold the authority"),
        ("public-authorities", url, "store.ca_file must hold the authority"),
        ("another-name", trusting.replace("localhost", "127.0.0.2"), "certificate not valid for name"),
        ("no-tls", f'url = "redis://localhost:{redis.port}"', "rediss://"),
    ):
        stage = Stage(binary, template, folder / name)
        stage.add(f'\n[store]\nkind = "redis"\n{store}\n')
        words_of = [binary, "serve", "--listen", f"127.0.0.1:{product.free_port()}", *stage.flags()]
        done = subprocess.run(words_of, capture_output=True, text=True, timeout=60)
        checks.equal(f"{name}: nothing starts", done.returncode, 69)
        said = done.stderr.splitlines()[-3:]
        checks.that(f"{name}: it says which store and why", "redis" in done.stderr and words in done.stderr, said)
        stage.close()
    redis.kill()


def through_store(binary, template, folder, store, checks, harm):
    """One lead through this store, and its retry after the harm."""
    stage = Stage(binary, template, folder)
    try:
        stage.add(f'\n[store]\nkind = "redis"\n{store}\n')
        process = stage.serve()
        request = lead(folder.name)
        answer = submit_until_taken(process, request)
        checks.that(f"{folder.name}: accepted", taken(answer), answer)
        arrived(checks, stage, request)
        harm()
        again = submit_until_taken(process, request, 40)
        checks.equal(f"{folder.name}: a retry gets the first answer", again, as_replay(answer))
        checks.equal(f"{folder.name}: one delivery", (stage.smtp.total(), stage.http.total()), (1, 1))
    finally:
        stage.close()


def make_template(binary, folder):
    """The demo's data, made once."""
    demo = product.demo(binary, folder / "template", folder / "template.log")
    demo.end()
    for path in (folder / "template").glob("forecourt.db*"):
        path.unlink()
    return folder / "template"


def check_all(binary, folder, checks):
    folder = Path(folder)
    template = make_template(binary, folder)
    single = [("kills", check_kills), ("receivers", check_receivers), ("redis", check_redis), ("flood", check_flood)]
    beside = [
        ("questions", check_questions),
        ("no time", check_no_time),
        ("Redis over TLS", check_tls),
        ("full disk", check_full_disk),
        ("topologies", check_topologies),
        ("race embedded", lambda *a: check_race(*a, "embedded")),
        ("race redis", lambda *a: check_race(*a, "redis")),
    ]

    def one_after_another(works):
        for name, work in works:
            began = time.monotonic()
            work(binary, template, folder, checks)
            print(f"   faults: {name} {time.monotonic() - began:.1f} s", flush=True)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(one_after_another, works) for works in (single, beside)]:
            done.result()
