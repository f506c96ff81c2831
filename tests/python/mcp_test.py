"""The MCP server with a real daemon; its messages checked against the protocol's schema; and
hostile clients."""

import base64
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from queue import Queue

from support import BUILD, ROOT, Daemon, endless, main, pliant, scene

CLIENT = os.path.join(ROOT, "clients", "python")
# With MCP_SCHEMA=FILE, the published schema of the revision, messages are checked against that,
# too.
SCHEMAS = [os.path.join(ROOT, "tests", "python", "mcp_schema.json")]
SCHEMAS += filter(None, [os.environ.get("MCP_SCHEMA")])
RESULTS = {"initialize": "InitializeResult", "ping": "EmptyResult",
           "tools/list": "ListToolsResult", "tools/call": "CallToolResult"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {},
         "clientInfo": {"name": "test", "version": "1"}}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float)}


def faults(value, schema, root, at=""):
    """The errors of a value, for the JSON Schema keywords used in the schemas above."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return faults(value, root["definitions"][name], root, at)
    if "anyOf" in schema:
        found = [faults(value, part, root, at) for part in schema["anyOf"]]
        return [] if [] in found else found[0]
    if "const" in schema and value != schema["const"]:
        return [f"{at}: {value!r} is not {schema['const']!r}"]
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    bool_only = isinstance(value, bool) and "boolean" not in kinds
    if kinds and (bool_only or not any(isinstance(value, TYPES[kind]) for kind in kinds)):
        return [f"{at}: {value!r} is no {kinds}"]
    found = []
    if isinstance(value, dict):
        known, rest = schema.get("properties", {}), schema.get("additionalProperties", {})
        found = [f"{at}: no {name}" for name in schema.get("required", []) if name not in value]
        for name, part in value.items():
            if name not in known and rest is False:
                found.append(f"{at}/{name}: not allowed")
            of = known.get(name, rest if isinstance(rest, dict) else {})
            found += faults(part, of, root, f"{at}/{name}")
    if isinstance(value, list) and "items" in schema:
        for i, part in enumerate(value):
            found += faults(part, schema["items"], root, f"{at}/{i}")
    return found


def check(value, name):
    for path in SCHEMAS:
        with open(path, encoding="utf-8") as file:
            root = json.load(file)
        if name == "Message" and name not in root["definitions"]:
            name = "JSONRPCMessage"
        found = faults(value, root["definitions"][name], root)
        if found:
            raise AssertionError(f"{path}, {name}: {found}")


def command(*options):
    return [sys.executable, "-W", "error", "-m", "pliant.mcp", *options]


ENVIRONMENT = {**os.environ, "PYTHONPATH": CLIENT, "PYTHONDONTWRITEBYTECODE": "1"}


class Agent:
    """A client of the server in a separate process; every message received is checked."""

    def __init__(self, *options):
        self.number = 0
        self.sent = {}
        self.progress = []
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command(*options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
            env=ENVIRONMENT)
        self.lines = Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def close(self):
        """Ends the input: the server ends."""
        self.process.stdin.close()
        status = self.process.wait(60)
        self.reader.join()
        self.process.stdout.close()
        self.said.close()
        return status

    def write(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method, params=None, **more):
        message = {"jsonrpc": "2.0", "method": method, **more}
        if params is not None:
            message["params"] = params
        if "id" in message:
            self.sent[message["id"]] = method
        self.write(json.dumps(message).encode())

    def receive(self):
        """The next reply."""
        while True:
            line = self.lines.get(timeout=60)
            if line is None:
                raise AssertionError("the server has ended")
            message = json.loads(line)
            check(message, "Message")
            if message.get("method") != "notifications/progress":
                break
            self.progress.append(message["params"])
        if "result" in message:
            check(message["result"], RESULTS[self.sent[message["id"]]])
        return message

    def ask(self, method, params=None):
        self.number += 1
        self.send(method, params, id=self.number)
        reply = self.receive()
        assert reply["id"] == self.number, reply
        return reply

    def call(self, tool, **arguments):
        """The result of a tool that succeeds, and its content."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"], result["content"][1:]

    def fail(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert result["isError"], result
        return result["structuredContent"]["error"]


class McpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.client = pliant.Client(state=cls.daemon.state)
        cls.addClassCleanup(cls.client.close)
        cls.folder = os.path.join(cls.daemon.directory, "scenes")
        os.mkdir(cls.folder)
        with open(os.path.join(cls.folder, "falls.json"), "w") as file:
            json.dump(scene(steps=5), file)

    def agent(self, *options):
        words = ("--state", self.daemon.state, "--folder", self.folder,
                 "--program", os.path.join(BUILD, "pliant"))
        agent = Agent(*(options or words))
        self.addCleanup(lambda: agent.process.poll() is None and agent.close())
        self.assertIn("result", agent.ask("initialize", HELLO))
        agent.send("notifications/initialized")
        return agent

    def test_the_tools_are_listed(self):
        agent = self.agent()
        self.assertEqual(agent.ask("ping")["result"], {})
        tools = {t["name"]: t for t in agent.ask("tools/list")["result"]["tools"]}
        for name in ("submit", "wait", "describe", "picture", "compare", "list", "cancel"):
            self.assertIn(name, tools)
        self.assertEqual(tools["wait"]["inputSchema"]["required"], ["session"])
        self.assertEqual(agent.close(), 0)

    def test_a_session_from_scene_to_picture(self):
        agent = self.agent()
        two = scene(steps=5)
        two["materials"]["hemp"] = {"young": 1e5, "density": 500, "area": 1e-4}
        rope = {"name": "rope", "mesh": {"rope": {"segments": 2}}, "material": "hemp"}
        two["bodies"].append({**rope, "transform": {"translate": [3, 0, 0]}})
        made, _ = agent.call("submit", scene=two, name="of an agent")
        agent.number += 1
        params = {"name": "wait", "arguments": {"session": made["session"], "seconds": 60},
                  "_meta": {"progressToken": "t"}}
        agent.send("tools/call", params, id=agent.number)
        waited = agent.receive()["result"]["structuredContent"]
        self.assertEqual((waited["state"], waited["over"], waited["frame"]), ("succeeded", True, 5))
        self.assertTrue(agent.progress)
        for told in agent.progress:
            self.assertEqual((told["progressToken"], told["total"]), ("t", 5))
        described, _ = agent.call("describe", session="of an agent", samples=2, scene=True)
        self.assertEqual(described["scene"]["name"], "of an agent")
        self.assertEqual([m["frame"] for m in described["metrics"]], [0, 3, 5])
        box = described["bodies"][0]
        self.assertEqual((box["body"], box["vertices"]), ("box", 27))
        # Backward Euler falls by g h^2 n (n + 1) / 2.
        self.assertAlmostEqual(box["min"][1], -0.5 - 9.81e-4 * 15, places=4)
        rows = self.client.session(made["session"]).frame(5).positions.tolist()[27:]
        box = described["bodies"][1]
        self.assertEqual([box["min"][0], box["max"][0]],
                         [min(row[0] for row in rows), max(row[0] for row in rows)])
        picture, content = agent.call("picture", session=made["session"][:12], frame=0, width=64,
                                      height=48, azimuth=-20, elevation=-10)
        self.assertEqual(content[0]["mimeType"], "image/png")
        data = base64.b64decode(content[0]["data"], validate=True)
        self.assertEqual((data[:8], len(data)), (b"\x89PNG\r\n\x1a\n", picture["bytes"]))
        self.assertEqual(struct.unpack(">II", data[16:24]), (64, 48))
        listed, _ = agent.call("list", name="of an agent")
        self.assertEqual([s["session"] for s in listed["sessions"]], [made["session"]])

    def test_methods_side_by_side(self):
        agent = self.agent()
        methods = ["newton", "quasi_newton", "projective_dynamics"]
        compared, _ = agent.call("compare", file="falls.json", methods=methods, seconds=60)
        rows = {row["method"]: row for row in compared["rows"]}
        fault = compared["rejected"]["projective_dynamics"]["faults"][0]
        self.assertEqual((fault["pointer"], fault["code"]), ("/solver/method", "unsupported"))
        self.assertTrue(compared["over"])
        self.assertEqual([rows[m]["frames"] for m in ("newton", "quasi_newton")], [5, 5])
        self.assertLess(rows["quasi_newton"]["difference"], 1e-3)
        again, _ = agent.call("compare", sessions=[rows[m]["session"] for m in methods[:2]])
        self.assertEqual([row["frames"] for row in again["rows"]], [5, 5])

    def test_a_waiting_call_holds_up_no_other(self):
        session = self.client.submit(endless(name="goes on"))
        self.addCleanup(session.delete)
        agent = self.agent()
        wait = {"name": "wait", "arguments": {"session": session.id, "seconds": 600}}
        agent.send("tools/call", wait, id="first")
        agent.send("tools/call", wait, id="second")
        self.assertEqual(agent.ask("ping")["result"], {})
        agent.send("tools/call", wait, id="first")
        self.assertIn("in flight", agent.receive()["error"]["message"])
        agent.send("notifications/cancelled", {"requestId": "first"})
        # A call that still waits when the input ends is answered; its session continues.
        agent.process.stdin.close()
        reply = agent.receive()
        self.assertEqual(reply["id"], "second")
        self.assertFalse(reply["result"]["structuredContent"]["over"])
        self.assertIsNone(agent.lines.get(timeout=60))
        self.assertEqual(agent.close(), 0)

    def test_a_session_is_cancelled(self):
        session = self.client.submit(endless())
        self.addCleanup(session.delete)
        agent = self.agent()
        agent.call("cancel", session=session.id)
        ended, _ = agent.call("wait", session=session.id)
        self.assertEqual(ended["state"], "cancelled")

    def test_what_is_wrong_is_said_with_a_hint(self):
        agent = self.agent()
        error = agent.fail("submit", scene={"pliant": 1, "bodys": []})
        self.assertEqual((error["code"], error["status"]), ("invalid_scene", 422))
        self.assertIn("bodies", {f["pointer"]: f for f in error["faults"]}["/bodys"]["hint"])
        for tool, arguments, code in (
            ("submit", {}, "invalid_arguments"),
            ("submit", {"file": "../state/token"}, "outside_folder"),
            ("submit", {"file": "none.json"}, "failed"),
            ("submit", {"scene": scene(bodies=[{"mesh": {"file": "/etc/passwd"}}])},
             "outside_folder"),
            ("submit", {"scene": scene(bodies=[{"mesh": {"file": "none.msh"}}])},
             "files_unreadable"),
            ("wait", {"session": "no such session"}, "not_found"),
            ("wait", {"session": "--help"}, "not_found"),
            ("compare", {"file": "falls.json"}, "invalid_arguments"),
            ("compare", {"file": "falls.json", "methods": ["magic"]}, "invalid_scene"),
            ("picture", {"session": "last", "frame": 10**9}, "no_picture"),
            ("capabilities", {"path": "no/such"}, "no_such_path"),
        ):
            with self.subTest(f"{tool} {arguments}"):
                self.assertEqual(agent.fail(tool, **arguments)["code"], code)
        error = agent.fail("wait", seconds="long", extra=1)
        found = {(f["pointer"], f["code"]) for f in error["faults"]}
        self.assertEqual(
            found, {("/session", "missing"), ("/seconds", "invalid"), ("/extra", "unknown")})
        os.symlink(self.daemon.state, os.path.join(self.folder, "link"))
        self.assertEqual(agent.fail("submit", file="link/token")["code"], "outside_folder")

    def test_the_daemon_is_away(self):
        agent = self.agent("--server", "http://127.0.0.1:1")
        error = agent.fail("list")
        self.assertEqual(error["code"], "unreachable")
        self.assertIn("pliantd", error["hint"])
        agent = self.agent("--server", "nowhere")
        self.assertIn("nowhere", agent.fail("list")["message"])

    def test_errors_of_the_protocol(self):
        agent = self.agent()
        for method, params, code in (
            ("no/such", None, -32601),
            ("initialize", {}, -32602),
            ("ping", [], -32602),
            ("tools/call", {}, -32602),
            ("tools/call", {"name": "none"}, -32602),
            ("tools/call", {"name": "list", "arguments": []}, -32602),
        ):
            self.assertEqual(agent.ask(method, params)["error"]["code"], code, method)
        for line in (b'{"id": 7, "method": "ping"}', b'{"jsonrpc": "2.0", "id": 7}',
                     b'{"jsonrpc": "2.0", "id": 7, "method": 1}'):
            agent.write(line)
            reply = agent.receive()
            self.assertEqual((reply["id"], reply["error"]["code"]), (7, -32600))

    def test_hostile_lines(self):
        agent = self.agent()
        valid = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "list", "arguments": {"limit": 1}}}).encode()
        lines = [
            b"", b"   ", b"not JSON", b"{", b"\x00\xff\xfe", b"[]", b"1", b"null", b"[" * 100000,
            b'{"a":' * 100000, b'{"jsonrpc": "2.0", "id": NaN}',
            b" " * (32 << 20) + b'{"jsonrpc": "2.0", "id": 9, "method": "ping"}',  # too long
            b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', b"[" + valid + b"]",
            b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', b"1" * 5000,
            b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
            b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
            b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}',
            b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []}',
            b'{"jsonrpc": "2.0", "method": "tools/call"}', b'{"jsonrpc": "2.0", "method": {}}',
            b'{"jsonrpc": "2.0", "id": 3, "result": {}}', b'{"id": [1], "error": 1}',
        ]
        for line in lines:
            agent.write(line)
        self.assertEqual(agent.ask("ping")["result"], {})  # none of them got a reply
        agent.send("ping", id="\ud800")
        self.assertEqual(agent.receive()["id"], "\ud800")
        generator = random.Random(5)
        for number in range(200):
            line = bytearray(valid)
            for _ in range(generator.randrange(1, 4)):
                line[generator.randrange(len(line))] = generator.randrange(32, 127)
            agent.write(bytes(line))
        agent.sent[1] = "tools/call"
        agent.send("ping", id="the last")
        while agent.process.poll() is None:
            line = json.loads(agent.lines.get(timeout=60))
            check(line, "Message")
            if line["id"] == "the last":
                break
        self.assertIsNone(agent.process.poll())

    def test_all_at_once_through_a_pipe(self):
        requests = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "submit", "arguments": {"file": "falls.json"}}},
        ]
        ran = subprocess.run(
            command("--state", self.daemon.state), cwd=self.folder, env=ENVIRONMENT,
            input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True, text=True,
            timeout=60)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        replies = {r["id"]: r["result"] for r in map(json.loads, ran.stdout.splitlines())}
        self.assertEqual(sorted(replies), [1, 2])
        self.assertFalse(replies[2]["isError"], replies[2])

    def test_nothing_else_is_written(self):
        """Printed text goes to standard error."""
        code = ("import pliant.mcp as mcp, os; list = mcp.Tools.describe; "
                "mcp.Tools.describe = lambda tools: print('stray') or list(tools); mcp.main([])")
        request = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n'
        ran = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, input=request,
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(json.loads(ran.stdout)["id"], 1)
        self.assertEqual((ran.stderr, ran.returncode), ("stray\n", 0))

    def test_long_parts_are_asked_for_by_path(self):
        agent = self.agent()
        whole = agent.call("capabilities")[0]["capabilities"]
        self.assertIn("newton", whole["methods"])
        path = whole["parameters"].split()[-1]
        inner = agent.call("capabilities", path=path)[0]["capabilities"]
        path = inner["scene"].split()[-1]
        self.assertEqual(path, "parameters/scene")
        gravity = agent.call("capabilities", path=path)[0]["capabilities"]["gravity"]
        self.assertEqual(gravity["unit"], "m/s^2")

    def test_a_picture_without_the_program(self):
        agent = self.agent("--state", self.daemon.state, "--program", "/no/such/pliant")
        session = self.client.submit(scene(steps=1)).wait(60)
        error = agent.fail("picture", session=session.id)
        self.assertIn("/no/such/pliant", error["message"])


if __name__ == "__main__":
    main()
