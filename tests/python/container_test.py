"""Container files and manifests for Kubernetes: their form by this test's rules; their options
and health check with the daemon. With PLIANT_LONG=1, builds and runs the image for CPUs if
buildah works."""

import glob
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import support

ROOT = support.ROOT
FOLDER = os.path.join(ROOT, "deploy", "container")
MANIFESTS = os.path.join(ROOT, "deploy", "kubernetes")
IMAGES = ["Containerfile", "Containerfile.cuda"]


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def instructions(name):
    """(WORD, rest) of each instruction, continued lines joined."""
    lines = [n for n in read(FOLDER, name).split("\n") if not n.startswith("#")]
    text = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = [line.split(None, 1) for line in text.split("\n") if line.strip()]
    return [(word, rest.strip()) for word, rest in found]


def stages(name):
    """Instructions of each stage, beginning with FROM; without those before the first."""
    found = []
    for word, rest in instructions(name):
        if word == "FROM":
            found.append([])
        if found:
            found[-1].append((word, rest))
    return found


def values(stage, word):
    return [rest for name, rest in stage if name == word]


class Containerfile(unittest.TestCase):
    KNOWN = {"ARG", "FROM", "LABEL", "ENV", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE",
             "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"}

    def test_words(self):
        for name in IMAGES:
            words = {word for word, _ in instructions(name)}
            self.assertEqual(words - self.KNOWN, set(), name)
            for word, rest in instructions(name):
                secret = word in ("ARG", "ENV") and re.search("(?i)token|passw|secret", rest)
                self.assertFalse(secret, rest)

    def test_base_has_a_tag(self):
        for name in IMAGES:
            (base,) = [r for w, r in instructions(name) if w == "ARG" and r.startswith("BASE=")]
            self.assertRegex(base, r"^BASE=[\w./-]+:(?!latest$)[\w.-]+$")
            self.assertEqual({stage[0][1].split()[0] for stage in stages(name)}, {"${BASE}"})

    def test_packages(self):
        for name in IMAGES:
            for text in [rest for stage in stages(name) for rest in values(stage, "RUN")]:
                for command in re.findall(r"apt-get install[^&]*", text):
                    self.assertIn(" -y --no-install-recommends ", command)
                if "apt-get install" in text:
                    self.assertTrue(text.startswith("apt-get update "), text)
                    self.assertIn("rm -rf ", text)
                    self.assertIn("/var/lib/apt/lists/*", text)
                self.assertNotRegex(text, r"apt-get (dist-)?upgrade|\bsudo\b|&& curl (?!-f)")

    def test_copied_files_exist(self):
        for name in IMAGES:
            for stage in stages(name):
                for text in values(stage, "COPY"):
                    *sources, _ = [n for n in text.split() if not n.startswith("--")]
                    if "--from=" not in text:
                        for source in sources:
                            self.assertTrue(os.path.exists(os.path.join(ROOT, source)), source)

    def test_last_stage(self):
        """Build tools stay out of the image; it does not run as root, and has a health check."""
        for name in IMAGES:
            first, last = stages(name)
            self.assertTrue(first[0][1].endswith(" AS build"))
            self.assertNotIn(". .", values(last, "COPY"))
            self.assertEqual(values(last, "USER"), ["700:700"])
            after = [word for word, _ in last[[w for w, _ in last].index("USER"):]]
            self.assertNotIn("RUN", after)
            self.assertEqual(values(last, "VOLUME"), ["/var/lib/pliant"])
            self.assertEqual(values(last, "EXPOSE"), ["8080"])
            (entry,) = values(last, "ENTRYPOINT")
            self.assertEqual(json.loads(entry)[0], "/usr/bin/pliantd")
            (health,) = values(last, "HEALTHCHECK")
            (program,) = json.loads(health[health.index("["):])
            copied = [text.split()[-2:] for text in values(last, "COPY")]
            self.assertIn(["deploy/container/healthy", program], copied)

    def test_both_are_alike(self):
        plain, cuda = (stages(name)[1] for name in IMAGES)
        for word in ("COPY", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"):
            own = [t for t in values(cuda, word) if "--from" not in t]
            self.assertEqual(own, [t for t in values(plain, word) if "--from" not in t])

    def test_context_is_the_source(self):
        ignored = set(read(ROOT, ".dockerignore").split("\n"))
        for line in read(ROOT, ".gitignore").split():
            bare = line.strip("/")
            names = {bare, "/" + bare, "**/" + bare}
            self.assertTrue(names & ignored, f".dockerignore does not have {line}")


class Options(unittest.TestCase):
    """Runs the daemon with the option files, on a free port."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pliant-container-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def config(self, path):
        """Replaces paths by ones that exist here."""
        text = read(path).replace("state = /var/lib/pliant", f"state = {self.folder}/state")
        text = text.replace("listen = 0.0.0.0:8080", "listen = 127.0.0.1:0")
        secrets = os.path.join(self.folder, "secrets")
        text = text.replace("token-file = /run/secrets/pliant", f"token-file = {secrets}")
        # The layout of a secret as the kubelet mounts it.
        os.makedirs(os.path.join(secrets, "..data"), exist_ok=True)
        token = os.path.join(secrets, "..data", "token")
        with open(token, "w") as file:
            file.write("7" * 64)
        os.chmod(token, 0o440)
        if not os.path.lexists(os.path.join(secrets, "token")):
            os.symlink("..data/token", os.path.join(secrets, "token"))
        name = os.path.join(self.folder, "pliantd.conf")
        with open(name, "w") as file:
            file.write(text)
        return name

    def start(self, path):
        program = os.path.join(support.BUILD, "pliantd")
        with open(os.path.join(self.folder, "log"), "w") as log:
            words = [program, "--config", self.config(path), "--cores", "1", "--no-pin"]
            words += ["--memory-groups", "off"]
            daemon = subprocess.Popen(words, stdout=log, stderr=log)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        url = os.path.join(self.folder, "state", "url")
        support.until(lambda: os.path.exists(url) or daemon.poll() is not None, "the daemon")
        self.assertIsNone(daemon.poll(), read(self.folder, "log"))
        return daemon, read(url).strip().rsplit(":", 1)[1]

    def healthy(self, *words):
        program = os.path.join(FOLDER, "healthy")
        return subprocess.run([program, *words], capture_output=True, timeout=60).returncode

    def test_health_check(self):
        daemon, port = self.start(os.path.join(FOLDER, "pliantd.conf"))
        support.until(lambda: self.healthy("/readyz", port) == 0, "a daemon that is ready")
        self.assertEqual(self.healthy("/healthz", port), 0)
        self.assertEqual(self.healthy("/nothing", port), 1)
        daemon.terminate()
        self.assertEqual(daemon.wait(60), 0)
        self.assertNotEqual(self.healthy("/healthz", port), 0)

    def test_kubernetes(self):
        """The token comes from the secret, and the preStop hook drains the cores."""
        daemon, port = self.start(os.path.join(MANIFESTS, "pliantd.conf"))
        token = os.path.join(self.folder, "secrets", "token")
        given = {"PLIANT_SERVER": f"http://127.0.0.1:{port}", "PLIANT_TOKEN_FILE": token,
                 "PATH": support.BUILD + ":/usr/bin:/bin", "HOME": self.folder}
        command = re.search(r'"(pliant devices drain cpu); sleep 5"',
                            read(MANIFESTS, "statefulset.yaml")).group(1)
        ran = subprocess.run(["/bin/sh", "-c", command], env=given, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        said = subprocess.run([support.BUILD + "/pliant", "--json", "devices", "list"], env=given,
                              capture_output=True, text=True).stdout
        self.assertRegex(said, r'"draining": ?true')
        daemon.terminate()
        self.assertEqual(daemon.wait(60), 0)


# The fields allowed in each kind, as far as they are used: a type, a table, or [type of its items].
# "*" stands for any name.
TEXT, NUMBER, TRUTH = str, int, bool
QUANTITY = (str, int)
NAMES = {"*": TEXT}
PROBE = {
    "httpGet": {"path": TEXT, "port": QUANTITY, "httpHeaders": [{"name": TEXT, "value": TEXT}]},
    "periodSeconds": NUMBER, "timeoutSeconds": NUMBER, "failureThreshold": NUMBER,
}
CONTAINER = {
    "name": TEXT, "image": TEXT, "imagePullPolicy": TEXT,
    "ports": [{"name": TEXT, "containerPort": NUMBER}],
    "env": [{"name": TEXT, "value": TEXT}],
    "startupProbe": PROBE, "livenessProbe": PROBE, "readinessProbe": PROBE,
    "lifecycle": {"preStop": {"exec": {"command": [TEXT]}}},
    "resources": {"requests": {"*": QUANTITY}, "limits": {"*": QUANTITY}},
    "securityContext": {"allowPrivilegeEscalation": TRUTH, "readOnlyRootFilesystem": TRUTH,
                        "capabilities": {"drop": [TEXT]}},
    "volumeMounts": [{"name": TEXT, "mountPath": TEXT, "readOnly": TRUTH}],
}
POD = {
    "automountServiceAccountToken": TRUTH, "enableServiceLinks": TRUTH,
    "terminationGracePeriodSeconds": NUMBER,
    "securityContext": {"runAsNonRoot": TRUTH, "runAsUser": NUMBER, "runAsGroup": NUMBER,
                        "fsGroup": NUMBER, "fsGroupChangePolicy": TEXT,
                        "seccompProfile": {"type": TEXT}},
    "containers": [CONTAINER],
    "volumes": [{"name": TEXT, "configMap": {"name": TEXT}, "emptyDir": {"sizeLimit": QUANTITY},
                 "secret": {"secretName": TEXT, "defaultMode": NUMBER}}],
}
METADATA = {"name": TEXT, "namespace": TEXT, "labels": NAMES}
TOP = {"apiVersion": TEXT, "kind": TEXT, "metadata": METADATA}
KINDS = {
    "v1/Namespace": TOP,
    "v1/Secret": {**TOP, "type": TEXT, "stringData": NAMES},
    "v1/Service": {**TOP, "spec": {
        "selector": NAMES,
        "ports": [{"name": TEXT, "port": NUMBER, "targetPort": QUANTITY}]}},
    "apps/v1/StatefulSet": {**TOP, "spec": {
        "serviceName": TEXT, "replicas": NUMBER, "selector": {"matchLabels": NAMES},
        "template": {"metadata": METADATA, "spec": POD},
        "volumeClaimTemplates": [{"metadata": METADATA, "spec": {
            "accessModes": [TEXT], "resources": {"requests": {"storage": QUANTITY}}}}]}},
    "kustomize.config.k8s.io/v1beta1/Kustomization": {
        "apiVersion": TEXT, "kind": TEXT, "namespace": TEXT, "resources": [TEXT],
        "configMapGenerator": [{"name": TEXT, "files": [TEXT]}],
        "patches": [{"path": TEXT}],
        "images": [{"name": TEXT, "newName": TEXT, "newTag": TEXT}]},
}


def faults(document, form, at):
    if isinstance(form, dict):
        if not isinstance(document, dict):
            yield f"{at} is no mapping"
            return
        for name, value in document.items():
            if name not in form and "*" not in form:
                yield f"{at} has no field {name}"
            else:
                yield from faults(value, form.get(name, form.get("*")), f"{at}.{name}")
    elif isinstance(form, list):
        if not isinstance(document, list):
            yield f"{at} is no list"
            return
        for index, value in enumerate(document):
            yield from faults(value, form[0], f"{at}[{index}]")
    elif not isinstance(document, form) or isinstance(document, bool) != (form is TRUTH):
        yield f"{at} is {document!r}"


try:
    import yaml
except ImportError:
    yaml = None


@unittest.skipUnless(yaml, "python3-yaml is missing")
class Kubernetes(unittest.TestCase):
    def load(self, name):
        return yaml.safe_load(read(MANIFESTS, name))

    def names(self):
        found = glob.glob(MANIFESTS + "/**/*.yaml", recursive=True)
        return sorted(os.path.relpath(n, MANIFESTS) for n in found)

    def test_fields(self):
        wrong = []
        for name in self.names():
            document = self.load(name)
            kind = f"{document['apiVersion']}/{document['kind']}"
            self.assertIn(kind, KINDS, name)
            wrong += faults(document, KINDS[kind], name)
        self.assertEqual(wrong, [])

    def test_kustomization_names_every_file(self):
        for folder, extra in (("", {"secret.example.yaml"}), ("gpu", set())):
            kustomization = self.load(os.path.join(folder, "kustomization.yaml"))
            named = {n for n in kustomization["resources"] if n != ".."}
            named |= {patch["path"] for patch in kustomization.get("patches", [])}
            there = {os.path.basename(n) for n in self.names() if os.path.dirname(n) == folder}
            self.assertEqual(named, there - extra - {"kustomization.yaml"})
        (generator,) = self.load("kustomization.yaml")["configMapGenerator"]
        for name in generator["files"]:
            self.assertTrue(os.path.exists(os.path.join(MANIFESTS, name)))

    def test_versions_agree(self):
        version = re.search(r"^VERSION := (.*)$", read(ROOT, "Makefile"), re.M).group(1)
        for name in ("kustomization.yaml", "gpu/kustomization.yaml"):
            self.assertEqual(self.load(name)["images"][0]["newTag"], version)

    def test_parts_fit(self):
        """Names that one manifest defines and another uses."""
        stateful = self.load("statefulset.yaml")["spec"]
        pod = stateful["template"]["spec"]
        (container,) = pod["containers"]
        labels = stateful["template"]["metadata"]["labels"]
        service = self.load("service.yaml")
        self.assertEqual(stateful["selector"]["matchLabels"], labels)
        self.assertEqual(service["spec"]["selector"], labels)
        self.assertEqual(service["metadata"]["name"], stateful["serviceName"])
        volumes = {v["name"]: v for v in pod["volumes"]}
        claims = {c["metadata"]["name"] for c in stateful["volumeClaimTemplates"]}
        mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
        self.assertEqual(set(mounts), set(volumes) | claims)
        ports = {p["name"]: p["containerPort"] for p in container["ports"]}
        self.assertEqual(ports, {"http": 8080})
        self.assertEqual(service["spec"]["ports"][0]["targetPort"], "http")
        secret = self.load("secret.example.yaml")
        self.assertEqual(volumes["token"]["secret"]["secretName"], secret["metadata"]["name"])
        self.assertEqual(volumes["token"]["secret"]["defaultMode"] & 0o007, 0)
        self.check_options(mounts, secret)

    def check_options(self, mounts, secret):
        config = read(MANIFESTS, "pliantd.conf")
        (token,) = secret["stringData"]
        self.assertIn(f"\ntoken-file = {mounts['token']}/{token}\n", config)
        self.assertIn(f"\nstate = {mounts['state']}\n", config)
        self.assertIn("\nlisten = 0.0.0.0:8080\n", config)
        self.assertIn("\non-exit = stop\n", config)
        namespace = self.load("namespace.yaml")["metadata"]["name"]
        self.assertIn(f"\nallow-host = pliant.{namespace}.svc\n", config)

    def test_pod_is_confined(self):
        """Requirements of Kubernetes' restricted standard, and limits."""
        pod = self.load("statefulset.yaml")["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        self.assertTrue(pod["securityContext"]["runAsNonRoot"])
        user = instructions("Containerfile")
        self.assertIn(("USER", f"{pod['securityContext']['runAsUser']}:700"), user)
        self.assertEqual(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault")
        self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
        self.assertEqual(container["securityContext"]["capabilities"]["drop"], ["ALL"])
        self.assertEqual(set(container["resources"]["limits"]), {"cpu", "memory"})

    def test_probes_are_routes(self):
        (container,) = self.load("statefulset.yaml")["spec"]["template"]["spec"]["containers"]
        description = subprocess.run([os.path.join(support.BUILD, "pliantd"), "--openapi"],
                                     capture_output=True, text=True, check=True).stdout
        routes = json.loads(description)["paths"]
        for name, path in (("startup", "/healthz"), ("liveness", "/healthz"),
                           ("readiness", "/readyz")):
            get = container[name + "Probe"]["httpGet"]
            self.assertEqual(get["path"], path)
            self.assertIn(path, routes)
            # The daemon rejects requests under another name.
            self.assertEqual(get["httpHeaders"], [{"name": "Host", "value": "localhost"}])


# Runs in the image, with its own configuration on a free port.
IN_IMAGE = """
/usr/bin/pliantd --config /etc/pliant/pliantd.conf --listen 127.0.0.1:$1 &
for try in $(seq 600); do /usr/lib/pliant/healthy /readyz $1 2>/dev/null && break; sleep 0.2; done
set -e
id -u
/usr/lib/pliant/healthy /healthz $1
export HOME=/tmp PLIANT_SERVER=http://localhost:$1 PLIANT_TOKEN_FILE=/var/lib/pliant/token
pliant --json submit /usr/share/pliant/scenes/stretched_box.json --follow
kill %1
wait
"""


@unittest.skipUnless(support.LONG, "the long form builds the image")
class Image(unittest.TestCase):
    SPACES = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]

    def setUp(self):
        missing = [n for n in ("buildah", "debootstrap", "unshare") if not shutil.which(n)]
        if missing:
            self.skipTest("missing: " + " ".join(missing))
        if os.geteuid() != 0 or subprocess.run([*self.SPACES, "true"]).returncode != 0:
            self.skipTest("it takes root, and namespaces")
        self.folder = tempfile.mkdtemp(prefix="pliant-image-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_words(self, *words):
        ran = subprocess.run(words, capture_output=True, text=True, timeout=5000)
        self.assertEqual(ran.returncode, 0, ran.stdout[-4000:] + ran.stderr[-4000:])
        return ran.stdout

    def buildah(self, *words):
        storage = ["--root", self.folder + "/images", "--runroot", self.folder + "/running"]
        return self.run_words("buildah", *storage, "--storage-driver", "vfs", *words).strip()

    def make_base(self):
        """Makes an image like debian:bookworm-slim from the archive that apt uses here."""
        root = os.path.join(self.folder, "root")
        code = "import sys, package_in_root as p; p.Root(sys.argv[1]).bootstrap()"
        given = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); {code}"
        self.run_words(*self.SPACES, sys.executable, "-c", given, root)
        archive = os.path.join(self.folder, "root.tar")
        self.run_words("tar", "-C", root, "-cf", archive, ".")
        shutil.rmtree(root)
        container = self.buildah("from", "scratch")
        self.buildah("add", "-q", container, archive, "/")
        os.remove(archive)
        self.buildah("commit", "-q", "--rm", container, "localhost/base:test")

    def test_image(self):
        self.make_base()
        self.buildah(
            "build", "--isolation", "chroot", "--pull-never", "--format", "docker",
            "--build-arg", "BASE=localhost/base:test", "-t", "localhost/pliant:test",
            "--ignorefile", os.path.join(ROOT, ".dockerignore"),
            "-f", os.path.join(FOLDER, "Containerfile"), ROOT,
        )
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        container = self.buildah("from", "--pull-never", "localhost/pliant:test")
        said = self.buildah("run", "--isolation", "chroot", container, "--",
                            "/bin/bash", "-c", IN_IMAGE, "image", port)
        self.assertIn("700", said.split("\n"))
        self.assertIn("succeeded", said)


if __name__ == "__main__":
    support.main()
