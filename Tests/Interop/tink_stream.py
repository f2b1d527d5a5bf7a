"""Tink's streaming AEAD (AES256-GCM-HKDF) over the body of a pack.

Tink draws the salt and the nonce prefix of a stream at random. To see that it writes the very bytes that a pack holds,
`encrypt` hands it those two: for the time of the call, the function from which Tink's library takes random bytes, `RAND_bytes`,
is replaced inside this process. Everything else is Tink's own code, as its package brings it.
"""

import contextlib
import ctypes
import io
import platform

from tink import core, streaming_aead
from tink.cc.pybind import tink_bindings
from tink.proto import aes_gcm_hkdf_streaming_pb2, common_pb2, tink_pb2
from tink.streaming_aead import _raw_streaming_aead

KEY_TYPE = "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey"
SALT_SIZE = 32
PREFIX_SIZE = 7


def primitive(stream_key, segment_size):
    """Tink's primitive for one raw key, without a keyset around it: a pack has no Tink key id."""
    streaming_aead.register()
    key = aes_gcm_hkdf_streaming_pb2.AesGcmHkdfStreamingKey(
        version=0,
        key_value=stream_key,
        params=aes_gcm_hkdf_streaming_pb2.AesGcmHkdfStreamingParams(
            ciphertext_segment_size=segment_size,
            derived_key_size=32,
            hkdf_hash_type=common_pb2.SHA256))
    data = tink_pb2.KeyData(
        type_url=KEY_TYPE, value=key.SerializeToString(), key_material_type=tink_pb2.KeyData.SYMMETRIC)
    return core.Registry.primitive(data, _raw_streaming_aead.RawStreamingAead)


def decrypt(aead, body, associated_data):
    with aead.new_raw_decrypting_stream(io.BytesIO(body), associated_data, close_ciphertext_source=True) as stream:
        return stream.read()


def encrypt(aead, plaintext, associated_data, salt, prefix):
    """What Tink writes when its random bytes are `salt` and `prefix`."""
    assert len(salt) == SALT_SIZE and len(prefix) == PREFIX_SIZE
    destination = _KeptBytes()
    with random_bytes([salt, prefix]):
        stream = aead.new_raw_encrypting_stream(destination, associated_data)
        stream.write(plaintext)
        stream.close()
    return destination.getvalue()


class _KeptBytes(io.BytesIO):
    """Tink closes what it writes to; what was written is wanted afterwards."""

    def close(self):
        pass


@contextlib.contextmanager
def random_bytes(pieces):
    """Lets Tink's `RAND_bytes` return `pieces`, one a call, and nothing else."""
    remaining = list(pieces)
    unexpected = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
    def replacement(buffer, count):
        if not remaining or len(remaining[0]) != count:
            unexpected.append(count)
            return 0
        ctypes.memmove(buffer, remaining.pop(0), count)
        return 1

    place = ctypes.cast(ctypes.CDLL(tink_bindings.__file__).RAND_bytes, ctypes.c_void_p).value
    jump = _jump(ctypes.cast(replacement, ctypes.c_void_p).value)
    # Unlike a store, this write reaches pages that are mapped for execution only.
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(place)
        original = memory.read(len(jump))
        memory.seek(place)
        memory.write(jump)
        try:
            yield
        finally:
            memory.seek(place)
            memory.write(original)
    if remaining or unexpected:
        raise RuntimeError(f"Tink asked for other random bytes: {unexpected}, not taken: {len(remaining)}")


def _jump(address):
    """Machine code that continues at `address`."""
    target = address.to_bytes(8, "little")
    machine = platform.machine()
    if machine == "x86_64":
        return b"\x48\xb8" + target + b"\xff\xe0"  # mov rax, target; jmp rax
    if machine == "aarch64":
        return b"\x50\x00\x00\x58" + b"\x00\x02\x1f\xd6" + target  # ldr x16, .+8; br x16; target
    raise RuntimeError(f"replacing Tink's random bytes is not written for {machine}")
