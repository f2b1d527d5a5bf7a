#!/usr/bin/env python3
"""The recipes of Examples/Machines, run as they stand: GNU parallel and make, with a worker that is killed while it packs and a share that fails, a
run that goes on after the failure, the next release, and one without a change. Each `dist` must be that of one machine, byte for byte. The `packer`
that is first in PATH notes the environment and the arguments of every call: those of a worker hold no secret, and no variable but HOME. Then two
workers make the same share at the same time, beside one that has other sources.

With --slurm, a Slurm of two nodes with one core each runs on this machine, as root, in namespaces of its own, so that nothing of it reaches another
machine or outlives this program: once undisturbed, and once while a node is killed with everything on it. Prints where the time went.

The command is named by the variable PACKER, the seed by PACKER_TEST_SEED. `--games N`, `--level L` and `--shares N` set the size. Debian has the tools in
parallel, make, slurm-wlm and munge.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import project
from project import GAMES_CONFIGURATION, ROOT, SEED, Checks, contents, fail, inherited

RECIPES = ROOT / "Examples/Machines"
PACKER = os.path.realpath(project.PACKER)
# The times of three releases.
TIMES = [1793491200, 1793577600, 1793664000]
# What the shell of a recipe has besides the keys, and no worker may have.
OTHERS = {"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI-K7MDENG", "PACKER_CACHE_PASSWORD": "correct horse battery"}

# Stands for packer: notes each call and what it cost, and makes the faults that are asked for. It gives packer the environment that it got.
STAND_IN = """\
#!%(python)s -IS
import json, os, signal, sys, time

def note(**fields):
    log = os.open(%(log)r, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, (json.dumps({"call": call, **fields}) + "\\n").encode())
    os.close(log)

def texts(name):
    with open(f"/proc/self/{name}", "rb") as file:
        return file.read().decode().split("\\0")[:-1]

def listing(top):
    files = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names if "/." not in folder]
    return {file: [os.stat(file).st_ino, os.stat(file).st_mtime_ns] for file in files}

def is_packing(child):
    try:
        return any("/.dist-" in os.readlink(f"/proc/{child}/fd/{file}") for file in os.listdir(f"/proc/{child}/fd"))
    except OSError:
        return False

call, words, variables = time.time_ns(), sys.argv[1:], texts("environ")
share = words[words.index("--share") + 1].split("/")[0] if "--share" in words else None
cache = listing("cache") if words == ["build"] else None
note(began=time.time(), words=words, environ=variables, cmdline=texts("cmdline"), share=share, cache=cache)
if os.path.exists(f"%(faults)s/fail.{share}"):
    note(ended=time.time(), status=75)
    sys.exit(75)
is_killed = True
try:
    os.unlink(f"%(faults)s/kill.{share}")
except FileNotFoundError:
    is_killed = False
environment = {**dict(text.partition("=")[::2] for text in variables), **%(more)r}
child = os.posix_spawn(%(packer)r, [%(packer)r, *words], environment)
while is_killed and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
    if is_packing(child):
        os.kill(child, signal.SIGKILL)
        break
_, status, usage = os.wait4(child, 0)
code = os.waitstatus_to_exitcode(status)
note(ended=time.time(), cpu=usage.ru_utime + usage.ru_stime, status=code)
sys.exit(code if code >= 0 else 128 - code)
"""

checks = Checks()
expect = checks.expect


def make_games(folder, count, scripts, large=None):
    """Games of scripts of 10 to 60 kB whose words repeat; `large` is a game with one of several MB."""
    chance = random.Random(SEED)
    words = ["".join(chance.choices("abcdefghij", k=chance.randint(2, 9))).encode() for _ in range(256)]
    for number in range(count):
        game = folder / f"{number:04}"
        game.mkdir(parents=True)
        (game / "index.html").write_text(f"<title>{number}</title>")
        for script in range(chance.randint(*scripts)):
            size = 600_000 if number == large else chance.randint(1500, 9000)
            (game / f"{script}.js").write_bytes(b" ".join(map(words.__getitem__, chance.randbytes(size))))


def make_project(home, level):
    (home / "packer.yml").write_text(GAMES_CONFIGURATION % level + "cache: cache\n")
    checks.run(home, "key", "new", "-o", "root.key", "-q", inherits=False)
    checks.run(home, "key", "new", "--signing", "-o", "sign.key", "-q", inherits=False)
    return [(home / name).read_text().strip().splitlines()[-1] for name in ("root.key", "sign.key")]


class Recipe:
    """A copy of the project in which a recipe runs."""

    def __init__(self, base, home, name, keys, words, in_files, copy=shutil.copy2):
        self.name, self.words, self.place = name, words, base / name
        self.log, self.faults, programs = base / f"{name}.log", base / f"{name}-faults", base / f"{name}-programs"
        shutil.copytree(home, self.place, copy_function=copy)
        self.faults.mkdir()
        programs.mkdir()
        more = {name: value for name, value in inherited().items() if name != "PATH"}
        (programs / "packer").write_text(
            STAND_IN % {"python": sys.executable, "log": str(self.log), "faults": self.faults, "packer": PACKER, "more": more})
        (programs / "packer").chmod(0o755)
        self.environment = {**inherited(), **OTHERS, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(base)}
        if in_files:
            self.environment["PACKER_TOKEN"] = "a token"
        else:
            # The variables have the keys, and no file has them.
            self.environment |= {"PACKER_KEY": keys[0], "PACKER_SIGN_KEY": keys[1]}
            for file in ("root.key", "sign.key"):
                (self.place / file).unlink()
        self.keys, self.secrets = keys, [*keys, *OTHERS.values()]

    def run(self, at, status=0, **more):
        """Runs the recipe; returns the calls of packer."""
        done = subprocess.run(
            [str(word) for word in self.words], cwd=self.place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**self.environment, "SOURCE_DATE_EPOCH": str(at), **more})
        expect((done.returncode != 0) == (status != 0), f"{self.name}: the recipe ends with {done.returncode}: {done.stdout[-1500:]}")
        return self.calls()

    def calls(self):
        """What was noted since the last time. A call that was killed has no end."""
        calls = {}
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            record = json.loads(line)
            calls.setdefault(record["call"], {}).update(record)
        self.log.unlink(missing_ok=True)
        self.search_calls(calls.values())
        return list(calls.values())

    def search_calls(self, calls):
        for call in calls:
            if call["share"]:
                told = "\0".join(call["environ"] + call["cmdline"])
                expect(not any(secret in told for secret in self.secrets), f"{self.name}: share {call['share']} was told a secret")
                names = [variable.partition("=")[0] for variable in call["environ"]]
                expect(names == ["HOME"], f"{self.name}: share {call['share']} has variables: {' '.join(names)}")
            else:
                # Shows that a secret in the environment is noticed.
                told = "\0".join(call["environ"])
                expect(all(value in told for value in OTHERS.values()), f"{self.name}: the environment of {call['words'][:2]} was not noted")

    def search_files(self, *folders):
        """Looks for the secrets in what the recipe wrote, and for key files in the cache."""
        files = list(self.place.glob("*.log"))
        files += [path for folder in (self.place / "cache", self.place / "keys", *folders) for path in folder.rglob("*") if path.is_file()]
        for path in files:
            try:
                text = path.read_bytes()
            except FileNotFoundError:
                continue
            expect(not any(secret.encode() in text for secret in self.secrets), f"{self.name}: {path} has a secret")
            expect(path.suffix != ".key" or "keys" in path.parts, f"{self.name}: {path} is a key")
        return len(files)

    def is_like(self, expected, title):
        expect((self.place / "dist").is_dir() and contents(self.place / "dist") == expected, f"{self.name}: {title} is not that of one machine")
        left = {path.name for path in self.place.iterdir()} - {"games", "packer.yml", "root.key", "sign.key", "cache", "dist"}
        expect(not left, f"{self.name}: left behind: {sorted(left)}")


def shares_of(calls):
    return sorted(call["share"] for call in calls if call["share"])


def change(place):
    with open(place / "games/0003/0.js", "a") as file:
        file.write("// changed\n")


def scenes(recipe, retries, expected):
    """A run that fails in the end, although every share but one is brought through; the same again; and two more releases."""
    (recipe.faults / "kill.1").touch()
    (recipe.faults / "fail.3").touch()
    calls = recipe.run(TIMES[0], status=1)
    shares = shares_of(calls)
    expect(not (recipe.faults / "kill.1").exists(), f"{recipe.name}: nothing was killed")
    expect([call["status"] for call in calls if call["share"] == "1"][0] == -signal.SIGKILL, f"{recipe.name}: share 1 was done before it was killed")
    expect(not (recipe.place / "dist").exists() and not any(call["words"] == ["build"] for call in calls), f"{recipe.name}: a release of some packs")
    if retries:
        expect(shares == ["1", "1", "2", "3", "3", "3", "4"], f"{recipe.name}: shares {shares} were begun")
    there = {f"cache/{path.name}": [path.stat().st_ino, path.stat().st_mtime_ns] for path in recipe.place.glob("cache/[0-9a-f]*")}
    expect(len(there) >= 4, f"{recipe.name}: a failed run made {there}")
    files = recipe.search_files()

    (recipe.faults / "fail.3").unlink()
    calls = recipe.run(TIMES[0])
    made = next((call["cache"] for call in calls if call["words"] == ["build"]), {})
    again = [path for path, state in there.items() if made.get(path) != state]
    expect(not again, f"{recipe.name}: made again: {again}")
    expect(shares_of(calls) == ["1", "2", "3", "4"], f"{recipe.name}: shares {shares_of(calls)} were begun")
    recipe.is_like(expected[0], "the first release")

    change(recipe.place)
    recipe.run(TIMES[1])
    recipe.is_like(expected[1], "the next release")
    recipe.run(TIMES[2])
    recipe.is_like(expected[2], "the release without a change")
    return f"{len(there)} files of the failed run were kept, {files} files searched for keys"


def workers(base, home, games, expected):
    """Two workers with one share, one with the other, and one with other sources, at the same time, with no key but those of packs."""
    place, other = base / "workers", base / "stranger"
    shutil.copytree(home, place)
    (place / "cache").mkdir()
    checks.run(place, "key", "derive", "-c", "packer.yml", "-o", "keys", inherits=False)
    aside = [(place / name).rename(base / name) for name in ("root.key", "sign.key")]
    shutil.copytree(place, other)
    (other / "cache").rmdir()
    (other / "cache").symlink_to(place / "cache")
    change(other)
    running = [
        subprocess.Popen([PACKER, "build", "--share", share, "--only-cache", "--key", "keys"], cwd=folder, env={**inherited(), "HOME": str(base)}, stdout=subprocess.DEVNULL)
        for share, folder in (("1/2", place), ("1/2", place), ("2/2", place), ("1/1", other))]
    expect([process.wait() for process in running] == [0] * 4, "workers at the same time fail")
    expect(len(list(place.glob("cache/*.pack"))) == games + 1, "workers at the same time make other packs")
    for path in aside:
        path.rename(place / path.name)
    done = checks.run(place, "build", "--json", environment={"SOURCE_DATE_EPOCH": str(TIMES[0])}, inherits=False)
    expect(done.stdout.count('"action":"cached"') == games, f"of workers at the same time, a build takes {done.stdout}")
    expect(contents(place / "dist") == expected, "the release of workers at the same time is another one")


def quick(base, options):
    home, alone = base / "home", base / "alone"
    make_games(home / "games", options.games or 12, (1, 1), large=0)
    keys = make_project(home, options.level or 9)
    shutil.copytree(home, alone)
    expected = []
    for number, at in enumerate(TIMES):
        if number == 1:
            change(alone)
        checks.run(alone, "build", "-q", "--no-cache", environment={"SOURCE_DATE_EPOCH": str(at)}, inherits=False)
        expected.append(contents(alone / "dist"))
    workers(base, home, options.games or 12, expected[0])
    expect(expected[0] != expected[1], "the change is not in the release")
    for name, words, retries, in_files in (
        ("parallel", [RECIPES / "parallel.sh", 4, "-j", 2], True, False),
        ("make", ["make", "-f", RECIPES / "build.mk", "-j2", "SHARES=4"], False, True),
    ):
        if not shutil.which(name):
            print(f"machines: there is no {name} here, so its recipe is not run (Debian: apt-get install {name})")
            continue
        began, wrong = time.monotonic(), len(checks.failures)
        said = scenes(Recipe(base, home, name, keys, words, in_files), retries, expected)
        if len(checks.failures) == wrong:
            print(f"machines: {name}: three releases as of one machine; {said}; {time.monotonic() - began:.1f} s", flush=True)


# MARK: Slurm

ADDRESS = "192.0.2.1"
NODES = ("n1", "n2")
SLURM = """\
ClusterName=packer
SlurmctldHost=localhost(%(address)s)
SlurmctldPort=17001
SlurmUser=root
SlurmdUser=root
%(trust)s
StateSaveLocation=%(place)s/state
SlurmdSpoolDir=%(place)s/spool-%%n
SlurmctldPidFile=%(place)s/slurmctld.pid
SlurmdPidFile=%(place)s/slurmd-%%n.pid
SlurmctldLogFile=%(place)s/slurmctld.log
SlurmdLogFile=%(place)s/slurmd-%%n.log
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=5
ReturnToService=2
SlurmdTimeout=10
MinJobAge=86400
NodeName=n1,n2 NodeHostname=localhost NodeAddr=%(address)s Port=17002,17003 CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""


class Cluster:
    """A Slurm of two nodes. Each has its own process namespace, so that all of a node dies with it, at once."""

    def __init__(self, place):
        self.place, self.nodes = place, {}
        (place / "state").mkdir(parents=True)
        self.environment = {**inherited(), "SLURM_CONF": str(place / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
        # Slurm's library resolves no address where only the loopback one is configured.
        self.tool("ip", "link", "set", "lo", "up")
        self.tool("ip", "address", "add", f"{ADDRESS}/32", "dev", "lo")
        # A job that is queued again waits as long as the credentials of the lost one are valid.
        trust = "AuthType=auth/none\nCredType=cred/none\nAuthInfo=cred_expire=5"
        if not all(any(pathlib.Path("/usr/lib").glob(f"*/slurm*/{name}_none.so")) for name in ("auth", "cred")):
            trust = f"AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket={self.start_munge()},cred_expire=5"
        (place / "slurm.conf").write_text(SLURM % {"place": place, "address": ADDRESS, "trust": trust})
        self.start("slurmctld", "-D")
        for node in NODES:
            self.start_node(node)
        self.wait(60, "the nodes are not ready", lambda: self.states() == {node: "idle" for node in NODES})

    def start(self, *words):
        with open(self.place / "output.log", "a") as output:
            return subprocess.Popen(words, cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def start_munge(self):
        folder, key = self.place / "munge", self.place / "munge/key"
        folder.mkdir(mode=0o755)
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = [f"--{name}={folder}/{name}" for name in ("socket", "pid-file", "log-file", "seed-file")]
        self.start("munged", "--foreground", "--force", f"--key-file={key}", *files)
        self.wait(60, "munged is not ready", (folder / "socket").exists)
        return folder / "socket"

    def start_node(self, node):
        # The shell is the first process of the node and takes the others when their parents end.
        self.nodes[node] = self.start("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", 'slurmd -D -N "$0"; exit', node)

    def processes(self, node):
        """The processes of a node, and those of them that run packer."""
        first = pathlib.Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()
        return self.inside(os.readlink(f"/proc/{first[0]}/ns/pid")) if first else ("", [], [])

    def inside(self, space):
        found, packing = [], []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                # What has ended is there until its parent asks.
                if os.readlink(f"/proc/{pid}/ns/pid") == space and self.status(pid)[1][0] != "Z":
                    found.append(pid)
                    if os.readlink(f"/proc/{pid}/exe") == PACKER:
                        packing.append(pid)
            except OSError:
                pass
        return space, found, packing

    def kill_packing(self, name):
        """Kills everything on a node if it packs just now; returns the processor time that its packer had used, and what ran there."""
        node, spent = self.nodes[name], 0
        space, found, packing = self.processes(node)
        if not packing:
            return None
        try:
            names = [self.status(pid)[0] for pid in found]
            spent = sum(int(self.status(pid)[1][field]) for pid in packing for field in (11, 12)) / os.sysconf("SC_CLK_TCK")
        except OSError:
            # It was done just now.
            return None
        node.kill()
        node.wait()
        self.wait(60, "processes of a dead node", lambda: not self.inside(space)[1])
        return spent, names

    def status(self, pid):
        """The name of a process, and the fields after it."""
        name, _, fields = pathlib.Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
        return name, fields.split()

    def tool(self, *words):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
        return done.stdout

    def states(self):
        try:
            return dict(line.split() for line in self.tool("sinfo", "-h", "-N", "-o", "%N %t").splitlines())
        except RuntimeError:
            return {}

    def jobs(self):
        """The tasks of the last array, by their numbers."""
        jobs = [dict(word.partition("=")[::2] for word in line.split()) for line in self.tool("scontrol", "-o", "show", "job").splitlines()]
        latest = max((int(job.get("ArrayJobId", 0)) for job in jobs), default=0)
        return {job["ArrayTaskId"]: job for job in jobs if job.get("ArrayJobId") == str(latest)}

    def wait(self, seconds, text, condition):
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise RuntimeError(f"{text}: {self.states()}\n{self.tail()}")
            time.sleep(0.2)

    def tail(self):
        return "".join(f"-- {path.name}\n{path.read_text(errors='replace')[-1500:]}\n" for path in sorted(self.place.glob("*.log")))


def timed(recipe, at, *words):
    """Builds on one machine; returns wall and processor time."""
    environment = {**recipe.environment, "SOURCE_DATE_EPOCH": str(at)}
    done = subprocess.run(["packer", *words], cwd=recipe.place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 0, f"one machine: {done.returncode}: {done.stderr[-900:]}")
    call = recipe.calls()[0]
    return call["ended"] - call["began"], call["cpu"]


def run_array(cluster, recipe, games, kills):
    """Runs the recipe. In the middle, one node dies, and comes back when what it did was done elsewhere. Returns wall time, calls, tasks."""
    began = time.time()
    environment = {**recipe.environment, "SOURCE_DATE_EPOCH": str(TIMES[0]), "SLURM_CONF": cluster.environment["SLURM_CONF"]}
    lost, spent, is_queued, back = None, 0, False, None

    def tell(text):
        print(f"machines: slurm: {time.time() - began:5.1f} s: {text}", flush=True)

    with open(cluster.place / f"{recipe.name}.log", "w+") as output:
        process = subprocess.Popen(
            [str(word) for word in recipe.words], cwd=recipe.place, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        while process.poll() is None:
            time.sleep(0.2)
            done = len(list(recipe.place.glob("cache/*.pack")))
            if kills and lost is None and done >= 0.3 * games:
                here = [number for number, job in cluster.jobs().items() if (job["JobState"], job.get("NodeList")) == ("RUNNING", "n2")]
                if here and (killed := cluster.kill_packing("n2")):
                    lost = here[0]
                    spent, names = killed
                    tell(f"{done} packs are there; node n2 is killed in task {lost}: {', '.join(names)}")
                    recipe.search_files(cluster.place)
            elif lost is not None and back is None:
                job = cluster.jobs()[lost]
                if not is_queued and job["Restarts"] != "0":
                    is_queued = True
                    tell(f"Slurm noticed that, and task {lost} is in the queue again")
                if job["JobState"] == "COMPLETED":
                    tell(f"task {lost} was done on {job['NodeList']}; n2 is started again")
                    cluster.start_node("n2")
                    back = time.time()
        took = time.time() - began
        output.seek(0)
        expect(process.returncode == 0, f"{recipe.name}: the recipe ends with {process.returncode}: {output.read()[-1500:]}{cluster.tail()}")
    tasks = cluster.jobs()
    if kills and expect(lost is not None, "no node was killed: use more games"):
        job = tasks[lost]
        expect((job["Restarts"], job["NodeList"], job["JobState"]) == ("1", "n1", "COMPLETED"), f"task {lost}: {job}")
    others = [number for number, job in tasks.items() if number != lost and (job["Restarts"], job["JobState"]) != ("0", "COMPLETED")]
    expect(not others, f"{recipe.name}: tasks {others} did not simply complete")
    if kills:
        if back is None:
            cluster.start_node("n2")
        cluster.wait(60, "the node does not come back", lambda: cluster.states() == {node: "idle" for node in NODES})
        nodes = [job["NodeList"] for job in tasks.values()]
        tell(f"done; tasks by node: {({node: nodes.count(node) for node in NODES})}; {spent:.1f} s of work were lost")
    recipe.search_files(cluster.place)
    return took, recipe.calls(), tasks


def tell_times(took, calls, alone, both, sizes):
    """Where the time went, and what more nodes would bring."""
    def wall(call):
        return call["ended"] - call["began"]

    derive = next(call for call in calls if call["words"][0] == "key")
    release = next(call for call in calls if call["words"] == ["build"])
    workers = [call for call in calls if call["share"]]
    first, last = min(call["began"] for call in workers), max(call["ended"] for call in workers)
    parallel, serial = sum(call["cpu"] for call in workers), sum(call["cpu"] for call in (derive, release))
    inside = sum(wall(call) for call in workers)
    print(f"one machine: {alone[0]:.1f} s with one thread ({alone[1]:.1f} s of processor), {both[0]:.1f} s with two ({both[1]:.1f} s); {sizes}")
    print(f"slurm.sh: {took:.1f} s: key derive {wall(derive):.1f} s, array {release['began'] - derive['ended']:.1f} s, build {wall(release):.1f} s")
    print(f"array: the first task began after {first - derive['ended']:.1f} s; tasks {last - first:.1f} s, in which two nodes packed {inside:.1f} s, "
          f"{inside / (last - first) / 2:.0%} of their time; sbatch noticed the end after {release['began'] - last:.1f} s")
    print(f"processor: {parallel:.1f} s in {len(workers)} tasks, {serial:.2f} s in key derive ({derive['cpu']:.2f}) and "
          f"build ({release['cpu']:.2f}); in all {(parallel + serial) / alone[1] - 1:+.1%} against one machine")
    working = wall(derive) + last - first + wall(release)
    print(f"speed-up on two cores: {alone[0] / took:.2f} with the waits of Slurm, {alone[0] / working:.2f} without those before and after the tasks, "
          f"{alone[1] / (serial + parallel / 2):.2f} by processor time")
    share = serial / (serial + parallel)
    law = ", ".join(f"{count} nodes {1 / (share + (1 - share) / count):.1f} ({serial + parallel / count:.1f} s)" for count in (2, 10, 100))
    print(f"serial share {share:.1%}; by Amdahl's law, against one node: {law}; never above {1 / share:.0f}")


def slurm(base, options):
    games, level = options.games or 1000, options.level or 19
    home = base / "home"
    make_games(home / "games", games, (2, 10))
    keys = make_project(home, level)
    size = sum(path.stat().st_size for path in home.rglob("*.js"))
    print(f"machines: slurm: PACKER_TEST_SEED={SEED}, {games} games of {size / 1e6:.0f} MB, level {level}, {options.shares} shares", flush=True)
    words = [RECIPES / "slurm.sh", options.shares]

    def copy(name):
        # Links, because nothing here writes to a game.
        return Recipe(base, home, name, keys, words, in_files=False, copy=lambda source, place: os.link(source, place))

    one = copy("one")
    both = timed(one, TIMES[0], "build", "-q", "--no-cache", "--jobs", "2")
    shutil.rmtree(one.place / "dist")
    alone = timed(one, TIMES[0], "build", "-q", "--no-cache", "--jobs", "1")
    expected = contents(one.place / "dist")
    made = sum(len(data) for data in expected.values())

    cluster = Cluster(base / "cluster")
    calm, rough = copy("calm"), copy("rough")
    took, calls, _ = run_array(cluster, calm, games, kills=False)
    calm.is_like(expected, "the release")
    tell_times(took, calls, alone, both, f"{games} packs, {made / 1e6:.0f} MB")
    took, calls, _ = run_array(cluster, rough, games, kills=True)
    rough.is_like(expected, "the release with a dead node")
    shares = sum(1 for call in calls if call["share"])
    print(f"machines: slurm: {took:.1f} s with a dead node; {shares} calls of workers, no variable in any", flush=True)


def isolated(base, options):
    """Runs `slurm` with processes and a network of its own, which end with it; then looks for what is left."""
    if os.geteuid():
        fail("Slurm's nodes are started as root")
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [name for name in ("slurmctld", "slurmd", "sbatch", "ip", "unshare", "setpriv") if not shutil.which(name, path=path)]
    if missing:
        fail(f"missing: {', '.join(missing)} (Debian: apt-get install slurm-wlm munge iproute2 util-linux)")
    words = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    words += [sys.executable, __file__, *sys.argv[1:]]
    done = subprocess.run([*words, "--inside", base], env={**os.environ, "PACKER_TEST_SEED": str(SEED)})
    left = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            texts = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
            if base.encode() in texts and path.name != str(os.getpid()):
                left.append(f"{path.name} {(path / 'comm').read_text().strip()}")
        except OSError:
            pass
    expect(not left, f"processes are left: {left}")
    expect(done.returncode == 0, f"Slurm: status {done.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slurm", action="store_true")
    parser.add_argument("--games", type=int)
    parser.add_argument("--level", type=int)
    parser.add_argument("--shares", type=int, default=16)
    parser.add_argument("--inside", metavar="DIRECTORY", help=argparse.SUPPRESS)
    options = parser.parse_args()
    # A terminated run also removes its files.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    if options.inside:
        slurm(pathlib.Path(options.inside), options)
    else:
        with tempfile.TemporaryDirectory(prefix="packer-machines-") as name:
            if options.slurm:
                isolated(name, options)
            else:
                quick(pathlib.Path(name), options)
    checks.finish()


if __name__ == "__main__":
    main()
