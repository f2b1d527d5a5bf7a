#!/usr/bin/env python3
"""Signs with an Ed25519 key that an ssh-agent holds, so that the key never lies on this machine.

  agent-signer.py                 prints the agent's Ed25519 keys as packer names them, with their comments
  agent-signer.py COMMENT         reads a message from standard input, and writes its signature, 64 bytes

The agent is the one of SSH_AUTH_SOCK; `ssh -A` forwards one, and hardware tokens come with their own. For instance:

  ssh-keygen -t ed25519 -C arcade-release -f release.ssh && ssh-add release.ssh
  packer build --sign-key "signer:pkp1-… agent-signer.py arcade-release"
"""

import hashlib
import os
import socket
import struct
import sys

FAILURE, IDENTITIES_ANSWER, SIGN_RESPONSE = 5, 12, 14
REQUEST_IDENTITIES, SIGN_REQUEST = 11, 13


def text(value):
    return struct.pack(">I", len(value)) + value


def strings(data):
    """The length-prefixed strings that fill `data`."""
    while data:
        (size,) = struct.unpack(">I", data[:4])
        yield data[4:4 + size]
        data = data[4 + size:]


def ask(kind, content=b""):
    """Sends one message of the agent protocol (draft-miller-ssh-agent), and returns the answer."""
    place = os.environ.get("SSH_AUTH_SOCK")
    if not place:
        sys.exit("agent-signer: SSH_AUTH_SOCK is not set: start ssh-agent, or log in with ssh -A")
    with socket.socket(socket.AF_UNIX) as agent:
        agent.connect(place)
        agent.sendall(text(bytes([kind]) + content))
        stream = agent.makefile("rb")
        answer = stream.read(struct.unpack(">I", stream.read(4))[0])
    return answer[0], answer[1:]


def keys():
    """The Ed25519 keys of the agent: the blob, the 32 bytes, and the comment."""
    kind, answer = ask(REQUEST_IDENTITIES)
    if kind != IDENTITIES_ANSWER:
        sys.exit("agent-signer: the agent does not list its keys")
    parts = list(strings(answer[4:]))
    for blob, comment in zip(parts[::2], parts[1::2]):
        name, *rest = strings(blob)
        if name == b"ssh-ed25519":
            yield blob, rest[0], comment.decode("utf-8", "replace")


def key_text(public):
    """The public key as text (FORMAT.md, section 2.5)."""
    return f"pkp1-{public.hex()}-{hashlib.sha256(b'pack/v1/sig-public-text' + bytes(1) + public).hexdigest()[:8]}"


def main():
    if len(sys.argv) == 1:
        for _, public, comment in keys():
            print(key_text(public), comment)
        return
    blob = next((blob for blob, _, comment in keys() if comment == sys.argv[1]), None)
    if blob is None:
        sys.exit("agent-signer: the agent has no Ed25519 key with this comment")
    kind, answer = ask(SIGN_REQUEST, text(blob) + text(sys.stdin.buffer.read()) + struct.pack(">I", 0))
    if kind != SIGN_RESPONSE:
        sys.exit("agent-signer: the agent refuses to sign")
    (signature,) = strings(answer)
    name, value = strings(signature)
    sys.stdout.buffer.write(value)


if __name__ == "__main__":
    main()
