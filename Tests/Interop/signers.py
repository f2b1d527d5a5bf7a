#!/usr/bin/env python3
"""Signs releases through the programs of Examples/Signers: with a key in an ssh-agent, and with one in SoftHSM that pkcs11-tool made. Nothing of the keys
lies where packer runs. Then what goes wrong with a program that should sign, as a user sees it.

The command is named by the variable PACKER. Needs ssh-agent, ssh-add, softhsm2-util and pkcs11-tool.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from project import PACKER, ROOT, fail
from vectors.format.ed25519 import signature_holds
from vectors.format.errors import require
from vectors.format.primitives import label, sha256

SIGNERS = ROOT / "Examples/Signers"
SEED = bytes(range(32))
CONFIGURATION = """\
app: {bundleID: com.example.arcade, group: group.com.example.arcade}
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:game.key
packs:
  - {id: core, root: tree, delivery: prefetch}
"""
MODULES = ("/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so", "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so")


def run(*words, cwd, status=0, env=None, given=b""):
    done = subprocess.run([str(word) for word in words], cwd=cwd, env={**os.environ, **(env or {})}, input=given, capture_output=True, timeout=300)
    if done.returncode != status:
        fail(f"{shlex.join(str(word) for word in words)} ended with {done.returncode}, not {status}: {done.stderr.decode()}{done.stdout.decode()}")
    return done


def seed_text(seed):
    digest = sha256(label("sig-key-text") + seed)[:4].hex()
    return f"pks1-{seed.hex()}-{digest}"


def build(place, signer, status=0, **more):
    shutil.rmtree(place / "dist", ignore_errors=True)
    done = run(PACKER, "build", "--quiet", "--sign-key", signer, cwd=place, status=status, **more)
    if (place / "dist").exists() != (status == 0):
        fail(f"a build that ended with {status} left {list(place.iterdir())}")
    return done


def with_agent(place, public):
    """The agent's key is that of a known seed, so the manifest is the one that packer signs with the seed itself."""
    (place / "seed.key").write_text(seed_text(SEED))
    (place / "seed.key").chmod(0o600)
    time = {"SOURCE_DATE_EPOCH": "1790000000"}
    build(place, "seed.key", env=time)
    expected = (place / "dist/manifest.json").read_bytes()
    (place / "seed.key").unlink()
    private = place / "id"
    private.write_bytes(Ed25519PrivateKey.from_private_bytes(SEED).private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    private.chmod(0o600)
    socket = place / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL)
    try:
        env = {"SSH_AUTH_SOCK": str(socket), **time}
        while not socket.exists():
            if agent.poll() is not None:
                fail("ssh-agent does not start")
        # The comment of a key without one is its path.
        run("ssh-add", "-q", private, cwd=place, env=env)
        private.unlink()
        listed = run(sys.executable, SIGNERS / "agent-signer.py", cwd=place, env=env).stdout.decode().split(maxsplit=1)
        if listed[0] != public:
            fail(f"the agent has the key {listed}")
        comment = shlex.quote(listed[1].strip())
        signer = f"signer:{public} {sys.executable} {SIGNERS}/agent-signer.py {comment}"
        build(place, signer, env=env)
        if (place / "dist/manifest.json").read_bytes() != expected:
            fail("a manifest that the agent signs is another one")
        run(PACKER, "verify", "--trust", public, cwd=place)
        run(PACKER, "build", "--quiet", "--renew", cwd=place, env={**env, "PACKER_SIGN_KEY_SIGNER": signer.removeprefix("signer:")})
        run(PACKER, "verify", "--trust", public, cwd=place)
        said = build(place, signer.replace(comment, "nobody"), status=10, env=env)
        if b"has no Ed25519 key with this comment" not in said.stderr or b"ended with status 1" not in said.stderr:
            fail(f"a signer that fails is not named: {said.stderr.decode()}")
    finally:
        agent.terminate()
        agent.wait()
    build(place, signer, status=10, env=env)
    print("ok: a release signed by a key in an ssh-agent, the same bytes as with the key itself")


def with_module(place):
    module = next((path for path in MODULES if os.path.exists(path)), None)
    if module is None or not shutil.which("pkcs11-tool"):
        fail("SoftHSM or pkcs11-tool is missing: install the Debian packages softhsm2 and opensc")
    (place / "tokens").mkdir()
    (place / "softhsm2.conf").write_text(f"directories.tokendir = {place}/tokens\nobjectstore.backend = file\nlog.level = ERROR\n")
    (place / "pin").write_text("1234\n")
    env = {"SOFTHSM2_CONF": str(place / "softhsm2.conf"), "PIN_FILE": str(place / "pin")}
    run("softhsm2-util", "--init-token", "--free", "--label", "arcade", "--pin", "1234", "--so-pin", "5678", cwd=place, env=env)
    run("pkcs11-tool", "--module", module, "--token-label", "arcade", "--login", "--pin", "1234", "--keypairgen", "--key-type", "EC:edwards25519", "--label",
        "release", cwd=place, env=env)
    program = (sys.executable, SIGNERS / "pkcs11-signer.py", module, "arcade", "release")
    public = run(*program, "--public", cwd=place, env=env).stdout.decode().strip()
    # In packer.yml.
    reference = f"signer:{public} {shlex.join(map(str, program))}"
    (place / "packer.yml").write_text(CONFIGURATION + f"signKey: '{reference}'\n")
    shutil.rmtree(place / "dist", ignore_errors=True)
    refusal = run(PACKER, "build", "--quiet", cwd=place, env=env, status=65).stderr.decode()
    name, digest = re.search(r"export (\w+)=(\w+)", refusal).groups()
    run(PACKER, "build", "--quiet", cwd=place, env={**env, name: digest})
    run(PACKER, "verify", cwd=place)
    if run(PACKER, "key", "public", "--sign-key", reference, cwd=place).stdout.decode().split()[0] != public:
        fail("the public key of a signer is another one")
    # A document that is longer than what pkcs11-tool signs.
    size = (place / "dist/manifest.json").stat().st_size
    message = os.urandom(100_000)
    signature = run(*program, cwd=place, env=env, given=message).stdout
    require(signature_holds(bytes.fromhex(public[5:69]), message, signature), "a long message is signed wrongly")
    (place / "packer.yml").write_text(CONFIGURATION)
    print(f"ok: a release of {size} bytes and a message of 100 000 signed by a key in SoftHSM")


def refusals(place, public):
    """What a user sees of a program that does not sign."""
    secret = seed_text(bytes([9]) * 32)
    (place / "other.py").write_text(
        "import sys\nfrom cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey as Key\n"
        "sys.stdout.buffer.write(Key.from_private_bytes(bytes([9]) * 32).sign(sys.stdin.buffer.read()))\n")
    (place / "spy").write_text("#!/bin/sh\ncat >/dev/null\nenv >seen\n")
    (place / "spy").chmod(0o755)
    for words, said in (
            ("false", "ended with status 1"), ("./nothing", "was not found"), ("true", "printed nothing"), ("sh -c 'kill -9 $$'", "was ended by signal 9"),
            ("echo signature", "printed 10 bytes, which are no signature"), (f"{sys.executable} other.py", "does not hold under the public key"),
            ("head -c 64 /dev/zero", "does not hold under the public key"), ("cat /dev/zero", "printed more than 4096 bytes"),
            ("sh -c 'cat secret'", "printed a key instead of a signature"), ("./spy", "printed nothing")):
        (place / "secret").write_text(secret)
        done = build(place, f"signer:{public} {words}", status=10, env={"OTHER": secret, "PACKER_SIGN_KEY_OLD": "x"})
        text = done.stderr.decode() + done.stdout.decode()
        if said not in text or "packer: error: signing program" not in text:
            fail(f"signer {words}: {text}")
        if secret[5:69] in text or secret[5:25] in text:
            fail(f"signer {words}: the output is repeated")
    seen = (place / "seen").read_text()
    if secret in seen or "PACKER_SIGN_KEY" in seen or "PATH=" not in seen:
        fail("a signer sees a variable that concerns keys, or misses others")
    for reference, status, said in (
            (f"signer:{public}", 64, "a signer has no program"), ("signer:true", 64, "a signer has no public key (pkp1-…) before its program"),
            (f"signer:{public[:-1]}x true", 10, "the public key of a signer"), (f"signer:{secret} true", 64, "a key was given as an argument"),
            (f"signer:{public} 'true", 64, "a quote that is not closed")):
        done = build(place, reference, status=status)
        if said not in done.stderr.decode():
            fail(f"{reference[:20]}…: {done.stderr.decode()}")
    done = run(PACKER, "key", "id", "--key", f"signer:{public} true", cwd=place, status=64)
    if b"a signer signs manifests, and opens no packs" not in done.stderr:
        fail(done.stderr.decode())
    print("ok: each fault of a signer has its own words, and nothing that it prints is repeated")


def main():
    with tempfile.TemporaryDirectory(prefix="packer-signers.") as name:
        place = pathlib.Path(name)
        (place / "tree").mkdir()
        (place / "tree/index.html").write_text("<p>Hello</p>")
        (place / "packer.yml").write_text(CONFIGURATION)
        run(PACKER, "key", "new", "-o", "game.key", cwd=place)
        (place / "probe.key").write_text(seed_text(SEED))
        (place / "probe.key").chmod(0o600)
        public = run(PACKER, "key", "public", "--sign-key", "probe.key", cwd=place).stdout.decode().split()[0]
        (place / "probe.key").unlink()
        with_agent(place, public)
        with_module(place)
        refusals(place, public)


if __name__ == "__main__":
    main()
