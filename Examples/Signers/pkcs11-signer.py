#!/usr/bin/env python3
"""Signs with an Ed25519 key in a hardware security module, through its PKCS #11 library.

  pkcs11-signer.py MODULE TOKEN LABEL            reads a message from standard input, and writes its signature, 64 bytes
  pkcs11-signer.py MODULE TOKEN LABEL --public   prints the public key as packer names it

MODULE is the library, TOKEN the label of the token, LABEL that of the key pair. The PIN is in the file that PIN_FILE names.
A key pair is made with

  pkcs11-tool --module MODULE --token-label TOKEN --login --keypairgen --key-type EC:edwards25519 --label LABEL

`pkcs11-tool --sign` would do for up to 1024 bytes; what is longer it signs in parts, which Ed25519 does not allow.
"""

import ctypes
import hashlib
import os
import pathlib
import sys

CKF_SERIAL_SESSION, CKU_USER = 4, 1
CKA_CLASS, CKA_LABEL, CKA_EC_POINT = 0, 3, 0x181
CKO_PUBLIC_KEY, CKO_PRIVATE_KEY = 2, 3
CKM_EDDSA = 0x1057
ULONG = ctypes.c_ulong


class Attribute(ctypes.Structure):
    _fields_ = [("type", ULONG), ("value", ctypes.c_void_p), ("size", ULONG)]


class Mechanism(ctypes.Structure):
    _fields_ = [("mechanism", ULONG), ("parameter", ctypes.c_void_p), ("size", ULONG)]


class Module:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.call("C_Initialize", None)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            sys.exit(f"pkcs11-signer: {name} failed with 0x{status & 0xFFFFFFFF:x}")

    def slot(self, label):
        """The slot with the token of this label."""
        count = ULONG()
        self.call("C_GetSlotList", ctypes.c_ubyte(1), None, ctypes.byref(count))
        slots = (ULONG * count.value)()
        self.call("C_GetSlotList", ctypes.c_ubyte(1), slots, ctypes.byref(count))
        for slot in slots:
            information = ctypes.create_string_buffer(512)
            self.call("C_GetTokenInfo", ULONG(slot), information)
            if information.raw[:32].decode("utf-8", "replace").rstrip() == label:
                return ULONG(slot)
        sys.exit("pkcs11-signer: there is no token with this label")

    def session(self, slot, pin):
        session = ULONG()
        self.call("C_OpenSession", slot, ULONG(CKF_SERIAL_SESSION), None, None, ctypes.byref(session))
        self.call("C_Login", session, ULONG(CKU_USER), pin, ULONG(len(pin)))
        return session

    def key(self, session, kind, label):
        """The key with this label."""
        class_value, label_value = ULONG(kind), ctypes.create_string_buffer(label.encode(), len(label.encode()))
        wanted = (Attribute * 2)(
            Attribute(CKA_CLASS, ctypes.cast(ctypes.byref(class_value), ctypes.c_void_p), ctypes.sizeof(class_value)),
            Attribute(CKA_LABEL, ctypes.cast(label_value, ctypes.c_void_p), len(label_value)))
        key, count = ULONG(), ULONG()
        self.call("C_FindObjectsInit", session, wanted, ULONG(2))
        self.call("C_FindObjects", session, ctypes.byref(key), ULONG(1), ctypes.byref(count))
        self.call("C_FindObjectsFinal", session)
        if not count.value:
            sys.exit("pkcs11-signer: the token has no key with this label")
        return key

    def point(self, session, key):
        """The 32 bytes of a public key, which come as an octet string of DER."""
        buffer = ctypes.create_string_buffer(64)
        attribute = Attribute(CKA_EC_POINT, ctypes.cast(buffer, ctypes.c_void_p), 64)
        self.call("C_GetAttributeValue", session, key, ctypes.byref(attribute), ULONG(1))
        return buffer.raw[:attribute.size][-32:]

    def sign(self, session, key, message):
        mechanism, size = Mechanism(CKM_EDDSA, None, 0), ULONG(64)
        signature = ctypes.create_string_buffer(64)
        self.call("C_SignInit", session, ctypes.byref(mechanism), key)
        self.call("C_Sign", session, message, ULONG(len(message)), signature, ctypes.byref(size))
        return signature.raw[:size.value]


def key_text(public):
    """The public key as text (FORMAT.md, section 2.5)."""
    return f"pkp1-{public.hex()}-{hashlib.sha256(b'pack/v1/sig-public-text' + bytes(1) + public).hexdigest()[:8]}"


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[4:] not in ([], ["--public"]):
        sys.exit(__doc__)
    path, token, label = sys.argv[1:4]
    module = Module(path)
    pin = pathlib.Path(os.environ["PIN_FILE"]).read_bytes().strip()
    session = module.session(module.slot(token), pin)
    if sys.argv[4:]:
        print(key_text(module.point(session, module.key(session, CKO_PUBLIC_KEY, label))))
    else:
        sys.stdout.buffer.write(module.sign(session, module.key(session, CKO_PRIVATE_KEY, label), sys.stdin.buffer.read()))
    module.call("C_Finalize", None)


if __name__ == "__main__":
    main()
