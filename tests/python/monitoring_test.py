"""deploy/monitoring: /metrics follows Prometheus' conventions, alerts and dashboard use only
existing metrics, and each alert fires when it should."""

import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import time
import unittest
import urllib.request

from support import BUILD, ROOT, Daemon, endless, main, pliant, scene, until

FOLDER = os.path.join(ROOT, "deploy", "monitoring")
# Metrics that need a GPU or a certificate.
OTHERS = {"pliant_gpu_memory_bytes", "pliant_gpu_memory_used_bytes",
          "pliant_gpu_memory_others_bytes", "pliant_gpu_sessions",
          "pliant_tls_certificate_end_timestamp_seconds"}
NAME = re.compile(r"\b(?:pliant|process)_[a-z_]+\b")


def read(name):
    with open(os.path.join(FOLDER, name)) as file:
        return file.read()


class Monitoring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        with pliant.Client(state=cls.daemon.state, retry_for=60) as client:
            client.submit(scene(steps=7)).wait()
            runs = client.submit(endless())
            until(lambda: (runs.refresh().last_frame or 0) > 2, "frames")
            cls.page = cls.fetch(client.url)

    @classmethod
    def fetch(cls, url):
        request = urllib.request.Request(url + "/metrics")
        request.add_header("Authorization", "Bearer " + cls.daemon.token)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def names(self):
        """Names of all families, and the series of histograms."""
        found = set(OTHERS)
        for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", self.page, re.M):
            found.add(name)
            if kind == "histogram":
                found.update(name + end for end in ("_bucket", "_sum", "_count"))
        return found

    def value(self, series):
        return float(re.search("^" + re.escape(series) + r" (\S+)$", self.page, re.M).group(1))

    def test_what_alerts_and_dashboard_name_is_there(self):
        dashboard = json.loads(read("dashboard.json"))
        queries = [t["expr"] for p in dashboard["panels"] for t in p.get("targets", [])]
        self.assertGreater(len(queries), 30)
        for text in [*queries, read("alerts.yml").split("groups:")[1]]:
            self.assertLessEqual(set(NAME.findall(text)), self.names())
        places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in dashboard["panels"]]
        self.assertEqual(len(set(places)), len(places))

    def test_each_alert_has_a_case_and_a_paragraph(self):
        alerts = re.findall(r"- alert: (\w+)", read("alerts.yml"))
        cases = re.findall(r"^ +alertname: (\w+)", read("alerts_test.yml"), re.M)
        self.assertEqual(sorted(alerts), sorted(cases))
        with open(os.path.join(ROOT, "deploy", "operating.md")) as file:
            guide = file.read()
        for alert in alerts:
            self.assertIn(f"`{alert}`", guide)

    def test_values(self):
        self.assertEqual(self.value('pliant_user_sessions{user="owner",state="running"}'), 1)
        self.assertEqual(self.value('pliant_user_sessions{user="owner",state="queued"}'), 0)
        self.assertGreaterEqual(self.value("pliant_frames_committed_total"), 8 + 3)
        self.assertGreater(self.value("process_max_fds"), self.value("process_open_fds"))
        self.assertGreater(self.value("process_open_fds"), 3)
        self.assertGreater(self.value("process_resident_memory_bytes"), 1e6)
        self.assertGreater(self.value("process_cpu_seconds_total"), 0)
        began = self.value("process_start_time_seconds")
        log = os.stat(os.path.join(self.daemon.state, "url")).st_mtime
        self.assertLess(abs(began - log), 600)

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate")
    def test_certificate(self):
        folder = tempfile.mkdtemp(prefix="pliant-monitoring-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        cert, key = os.path.join(folder, "cert"), os.path.join(folder, "key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
                        "-days", "5", "-keyout", key, "-out", cert], check=True,
                       capture_output=True)
        state, url = os.path.join(folder, "state"), os.path.join(folder, "state", "url")
        daemon = subprocess.Popen(
            [os.path.join(BUILD, "pliantd"), "--state", state, "--listen", "127.0.0.1:0",
             "--no-auth", "--no-pin", "--memory-groups", "off", "--tls-cert", cert,
             "--tls-key", key])
        self.addCleanup(daemon.wait, 60)
        self.addCleanup(daemon.terminate)
        until(lambda: os.path.exists(url), "the daemon")
        with open(url) as file:
            address = file.read().strip() + "/metrics"
        trusting = ssl._create_unverified_context()
        with urllib.request.urlopen(address, timeout=60, context=trusting) as answer:
            page = answer.read().decode()
        name = "pliant_tls_certificate_end_timestamp_seconds"
        ends = float(re.search(f"^{name} (.*)$", page, re.M).group(1))
        self.assertLess(abs(ends - time.time() - 5 * 86400), 3600)

    @unittest.skipUnless(shutil.which("promtool"), "there is no promtool (Debian's prometheus)")
    def test_conventions_and_rules(self):
        for words, text in (
            (["check", "metrics"], self.page),
            (["check", "rules", "alerts.yml"], None),
            (["test", "rules", "alerts_test.yml"], None),
        ):
            done = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True,
                                  cwd=FOLDER, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
