"""Assembles the game's WebAssembly module from a flat textual form.

The module is the hot part of the game: tile collision, line of sight, a
pseudo-random generator and a particle pool. It is written here by hand, one
instruction a line, because the whole of it fits in a few hundred bytes and
needs no compiler to be reproduced.

Memory, one page:
  0      the level's tiles, one byte each, row by row (1 is solid)
  4096   two floats, where `move` leaves the resulting position
  8192   particles, 32 bytes each: x y vx vy life lifetime kind size
"""

import struct

I32, F32 = 0x7F, 0x7D
TYPES = {"i32": I32, "f32": F32}
PARTICLES = 8192
CAPACITY = 512

OPCODES = {
    "block": 0x02, "loop": 0x03, "if": 0x04, "else": 0x05, "end": 0x0B,
    "br": 0x0C, "br_if": 0x0D, "return": 0x0F, "call": 0x10,
    "local.get": 0x20, "local.set": 0x21, "local.tee": 0x22,
    "global.get": 0x23, "global.set": 0x24, "f32.load": 0x2A,
    "i32.load8_u": 0x2D, "f32.store": 0x38, "i32.const": 0x41,
    "f32.const": 0x43, "i32.ge_s": 0x4E, "i32.ge_u": 0x4F, "f32.gt": 0x5E,
    "f32.le": 0x5F, "i32.add": 0x6A, "i32.sub": 0x6B, "i32.mul": 0x6C,
    "i32.or": 0x72, "i32.xor": 0x73, "i32.shl": 0x74, "i32.shr_u": 0x76,
    "f32.abs": 0x8B, "f32.floor": 0x8E, "f32.add": 0x92, "f32.sub": 0x93,
    "f32.mul": 0x94, "f32.div": 0x95, "f32.max": 0x97,
    "i32.trunc_f32_s": 0xA8, "f32.convert_i32_u": 0xB3,
}

GLOBALS = [("width", "i32", 1), ("height", "i32", 1), ("tile", "f32", 32.0),
           ("state", "i32", 1), ("alive", "i32", 0)]

# name, parameters, result, locals, body
FUNCTIONS = [
    ("setup", "w:i32 h:i32 size:f32", None, "", """
        local.get w
        global.set width
        local.get h
        global.set height
        local.get size
        global.set tile
        i32.const 0
        global.set alive
    """),
    # A zero state would stay zero for ever, so the lowest bit is always set.
    ("seed", "value:i32", None, "", """
        local.get value
        i32.const 1
        i32.or
        global.set state
    """),
    # xorshift32; the top 24 bits become a float in [0, 1).
    ("random", "", "f32", "s:i32", """
        global.get state
        local.tee s
        local.get s
        i32.const 13
        i32.shl
        i32.xor
        local.tee s
        local.get s
        i32.const 17
        i32.shr_u
        i32.xor
        local.tee s
        local.get s
        i32.const 5
        i32.shl
        i32.xor
        local.tee s
        global.set state
        local.get s
        i32.const 8
        i32.shr_u
        f32.convert_i32_u
        f32.const 0.000000059604644775390625
        f32.mul
    """),
    # Everything outside the level counts as solid.
    ("solid", "x:f32 y:f32", "i32", "c:i32 r:i32", """
        local.get x
        global.get tile
        f32.div
        f32.floor
        i32.trunc_f32_s
        local.tee c
        global.get width
        i32.ge_u
        local.get y
        global.get tile
        f32.div
        f32.floor
        i32.trunc_f32_s
        local.tee r
        global.get height
        i32.ge_u
        i32.or
        if
          i32.const 1
          return
        end
        local.get r
        global.get width
        i32.mul
        local.get c
        i32.add
        i32.load8_u
    """),
    # A body is smaller than a tile, so testing its corners is enough.
    ("blocked", "x:f32 y:f32 r:f32", "i32", "", """
        local.get x
        local.get r
        f32.sub
        local.get y
        local.get r
        f32.sub
        call solid
        local.get x
        local.get r
        f32.add
        local.get y
        local.get r
        f32.sub
        call solid
        i32.or
        local.get x
        local.get r
        f32.sub
        local.get y
        local.get r
        f32.add
        call solid
        i32.or
        local.get x
        local.get r
        f32.add
        local.get y
        local.get r
        f32.add
        call solid
        i32.or
    """),
    # Moves one axis at a time so that a body slides along walls. Returns
    # which axes were stopped: 1 is x, 2 is y.
    ("move", "x:f32 y:f32 dx:f32 dy:f32 r:f32", "i32", "hit:i32", """
        local.get x
        local.get dx
        f32.add
        local.get y
        local.get r
        call blocked
        if
          i32.const 1
          local.set hit
        else
          local.get x
          local.get dx
          f32.add
          local.set x
        end
        local.get x
        local.get y
        local.get dy
        f32.add
        local.get r
        call blocked
        if
          local.get hit
          i32.const 2
          i32.or
          local.set hit
        else
          local.get y
          local.get dy
          f32.add
          local.set y
        end
        i32.const 4096
        local.get x
        f32.store
        i32.const 4100
        local.get y
        f32.store
        local.get hit
    """),
    # Walks from a to b in steps of a quarter tile; 1 if nothing solid is met.
    ("sees", "ax:f32 ay:f32 bx:f32 by:f32", "i32", "n:f32 i:f32", """
        local.get bx
        local.get ax
        f32.sub
        f32.abs
        local.get by
        local.get ay
        f32.sub
        f32.abs
        f32.max
        f32.const 4
        f32.mul
        global.get tile
        f32.div
        f32.const 1
        f32.add
        f32.floor
        local.set n
        loop
          local.get ax
          local.get bx
          local.get ax
          f32.sub
          local.get i
          f32.mul
          local.get n
          f32.div
          f32.add
          local.get ay
          local.get by
          local.get ay
          f32.sub
          local.get i
          f32.mul
          local.get n
          f32.div
          f32.add
          call solid
          if
            i32.const 0
            return
          end
          local.get i
          f32.const 1
          f32.add
          local.tee i
          local.get n
          f32.le
          br_if 0
        end
        i32.const 1
    """),
    # A full pool drops the newcomer: a missing spark is never noticed.
    ("spawn", "x:f32 y:f32 vx:f32 vy:f32 life:f32 kind:f32 size:f32", None, "p:i32", """
        global.get alive
        i32.const {capacity}
        i32.ge_s
        if
          return
        end
        global.get alive
        i32.const 5
        i32.shl
        i32.const {particles}
        i32.add
        local.tee p
        local.get x
        f32.store 0
        local.get p
        local.get y
        f32.store 4
        local.get p
        local.get vx
        f32.store 8
        local.get p
        local.get vy
        f32.store 12
        local.get p
        local.get life
        f32.store 16
        local.get p
        local.get life
        f32.store 20
        local.get p
        local.get kind
        f32.store 24
        local.get p
        local.get size
        f32.store 28
        global.get alive
        i32.const 1
        i32.add
        global.set alive
    """),
    # Advances every particle and moves survivors down over the dead, so the
    # pool stays dense. Returns how many are left.
    ("step", "dt:f32 drag:f32", "i32", "from:i32 to:i32 stop:i32 life:f32", """
        i32.const {particles}
        local.tee from
        local.tee to
        global.get alive
        i32.const 5
        i32.shl
        i32.add
        local.set stop
        block
          loop
            local.get from
            local.get stop
            i32.ge_s
            br_if 1
            local.get from
            f32.load 16
            local.get dt
            f32.sub
            local.tee life
            f32.const 0
            f32.gt
            if
              local.get to
              local.get from
              f32.load 0
              local.get from
              f32.load 8
              local.get dt
              f32.mul
              f32.add
              f32.store 0
              local.get to
              local.get from
              f32.load 4
              local.get from
              f32.load 12
              local.get dt
              f32.mul
              f32.add
              f32.store 4
              local.get to
              local.get from
              f32.load 8
              local.get drag
              f32.mul
              f32.store 8
              local.get to
              local.get from
              f32.load 12
              local.get drag
              f32.mul
              f32.store 12
              local.get to
              local.get life
              f32.store 16
              local.get to
              local.get from
              f32.load 20
              f32.store 20
              local.get to
              local.get from
              f32.load 24
              f32.store 24
              local.get to
              local.get from
              f32.load 28
              f32.store 28
              local.get to
              i32.const 32
              i32.add
              local.set to
            end
            local.get from
            i32.const 32
            i32.add
            local.set from
            br 0
          end
        end
        local.get to
        i32.const {particles}
        i32.sub
        i32.const 5
        i32.shr_u
        global.set alive
        global.get alive
    """),
]


def _unsigned(n):
    out = bytearray()
    while True:
        byte, n = n & 127, n >> 7
        out.append(byte | (128 if n else 0))
        if not n:
            return bytes(out)


def _signed(n):
    out = bytearray()
    while True:
        byte, n = n & 127, n >> 7
        done = (n == 0 and not byte & 64) or (n == -1 and byte & 64)
        out.append(byte if done else byte | 128)
        if done:
            return bytes(out)


def _vector(items):
    return _unsigned(len(items)) + b"".join(items)


def _section(number, items):
    body = _vector(items)
    return bytes([number]) + _unsigned(len(body)) + body


def _name(text):
    return _unsigned(len(text)) + text.encode()


def _fields(text):
    return [tuple(word.split(":")) for word in text.split()]


def _instruction(words, local, glob, functions):
    name, argument = words[0], words[1] if len(words) > 1 else None
    code = bytes([OPCODES[name]])
    if name in ("block", "loop", "if"):
        return code + b"\x40"
    if name in ("br", "br_if"):
        return code + _unsigned(int(argument))
    if name == "call":
        return code + _unsigned(functions[argument])
    if name.startswith("local."):
        return code + _unsigned(local[argument])
    if name.startswith("global."):
        return code + _unsigned(glob[argument])
    if name == "i32.const":
        return code + _signed(int(argument))
    if name == "f32.const":
        return code + struct.pack("<f", float(argument))
    if name in ("f32.load", "f32.store"):
        return code + b"\x02" + _unsigned(int(argument or 0))
    if name == "i32.load8_u":
        return code + b"\x00\x00"
    return code


def _code(function, glob, functions):
    _, parameters, _, extra, body = function
    names = [n for n, _ in _fields(parameters) + _fields(extra)]
    local = {n: i for i, n in enumerate(names)}
    groups = [b"\x01" + bytes([TYPES[t]]) for _, t in _fields(extra)]
    text = body.format(particles=PARTICLES, capacity=CAPACITY)
    out = _vector(groups)
    for line in text.split("\n"):
        if line.strip():
            out += _instruction(line.split(), local, glob, functions)
    out += b"\x0b"
    return _unsigned(len(out)) + out


def _type(function):
    _, parameters, result, _, _ = function
    inputs = [bytes([TYPES[t]]) for _, t in _fields(parameters)]
    outputs = [bytes([TYPES[result]])] if result else []
    return b"\x60" + _vector(inputs) + _vector(outputs)


def _global(kind, value):
    start = (b"\x41" + _signed(value) if kind == "i32"
             else b"\x43" + struct.pack("<f", value))
    return bytes([TYPES[kind], 1]) + start + b"\x0b"


def module():
    """Returns the module's bytes."""
    functions = {f[0]: i for i, f in enumerate(FUNCTIONS)}
    glob = {g[0]: i for i, g in enumerate(GLOBALS)}
    exports = [_name("memory") + b"\x02\x00"]
    exports += [_name(n) + b"\x00" + _unsigned(i) for n, i in functions.items()]
    return (b"\0asm\x01\0\0\0"
            + _section(1, [_type(f) for f in FUNCTIONS])
            + _section(3, [_unsigned(i) for i in range(len(FUNCTIONS))])
            + _section(5, [b"\x01\x01\x01"])
            + _section(6, [_global(k, v) for _, k, v in GLOBALS])
            + _section(7, exports)
            + _section(10, [_code(f, glob, functions) for f in FUNCTIONS]))
