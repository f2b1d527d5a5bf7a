// Attacks the reader for browsers, in Node: changed packs, manifests, shards and keys, of which it must say what the second implementation says, and inputs
// that would cost much, never end, or reach a trap.
//
//   attack.mjs [--seed N] [--count N | --seconds N] [--inputs DIR]   (for --inputs see attack.py)

import { spawn } from 'node:child_process'
import { createCipheriv } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { importKey, loadPacker, openPack, openRelease, PackError } from '../../.build/web/packer.js'
import { bytesOf, runVectors, vectorOf } from './vectors.mjs'

const options = { seed: 1 + Math.floor(Math.random() * 1e9), count: 1200 }
for (let place = 2; place < process.argv.length; place += 2) options[process.argv[place].slice(2)] = process.argv[place + 1]
const root = new URL('../../', import.meta.url).pathname
console.log(`seed ${options.seed}`)

let failures = 0
const fail = text => {
  failures++
  console.error(text)
}

// A loop that never ends may leave no turn to timers, so another thread watches.
const current = new Int32Array(new SharedArrayBuffer(4))
const watch = new Worker(`
  const { workerData: current } = require('node:worker_threads')
  let last = -1
  setInterval(() => {
    if (current[0] === last) {
      require('node:fs').writeSync(2, 'case ' + last + ' takes more than a minute\\n')
      process.kill(process.pid, 'SIGKILL')
    }
    last = current[0]
  }, 60_000)`, { eval: true, workerData: current })
watch.unref()

// What a pack makes its reader fetch.
let fetched = 0
const slice = Blob.prototype.slice
Blob.prototype.slice = function (start, end) {
  fetched += end - start
  return slice.call(this, start, end)
}

const hexOf = bytes => Buffer.from(bytes).toString('hex')
/** The code of the error that an action ends with. */
const codeOf = action => action.then(() => 'ok', error => error instanceof PackError ? error.code : error.stack)
const expect = (name, got, wanted) => { if (got !== wanted) fail(`${name}: ${got}, not ${wanted}`) }

const core = await loadPacker()
const { exports } = core

/** A pack whose segments are sealed when they are asked for. */
class SparseSource {
  constructor({ header, key, prefix, segmentSize, payloadSize, parts }) {
    Object.assign(this, { name: 'sparse', header: bytesOf(header), key: bytesOf(key), prefix: bytesOf(prefix), segmentSize, payloadSize, fetched: 0, requests: 0 })
    this.parts = parts.map(([start, hex]) => ({ start, bytes: bytesOf(hex) }))
    this.room = segmentSize - 16
    this.count = Math.max(1, Math.ceil((payloadSize + 40) / this.room))
  }

  async size() { return this.header.length + this.payloadSize + 16 * this.count }

  async read(start, end) {
    this.requests++
    this.fetched += end - start
    const bytes = new Uint8Array(end - start)
    const put = (place, piece) => {
      const from = Math.max(0, start - place)
      if (from < piece.length && place < end) bytes.set(piece.subarray(from, Math.min(piece.length, end - place)), place + from - start)
    }
    put(0, this.header)
    const body = this.header.length - 40
    for (let number = Math.max(0, Math.floor((start - body) / this.segmentSize)); number < this.count; number++) {
      const place = body + (number === 0 ? 40 : number * this.segmentSize)
      if (place >= end) break
      put(place, this.segment(number))
    }
    return bytes
  }

  segment(number) {
    const first = number === 0 ? 0 : number * this.room - 40
    const plain = new Uint8Array(Math.min(this.payloadSize, (number + 1) * this.room - 40) - first)
    for (const { start, bytes } of this.parts) {
      const from = Math.max(0, first - start)
      if (from < bytes.length && start < first + plain.length) plain.set(bytes.subarray(from, Math.min(bytes.length, first + plain.length - start)), start + from - first)
    }
    const nonce = Buffer.alloc(12)
    nonce.set(this.prefix)
    nonce.writeUInt32BE(number, 7)
    nonce[11] = number === this.count - 1 ? 1 : 0
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce)
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }
}

/** Reads a pack of numbers that do not fit 32 bits, and compares what is read, or the error. */
async function readSparse(name, text) {
  const description = JSON.parse(text)
  const source = new SparseSource(description)
  let pack
  const opened = await codeOf(openPack(source, await importKey(description.text)).then(opened => { pack = opened }))
  for (const [call, ...rest] of description.reads) {
    if (call === 'open') expect(name, opened, rest[0])
    else if (!pack) fail(`${name}: ${opened}`)
    else if (call === 'together') {
      const [paths, size] = rest
      const start = performance.now()
      for (const bytes of await Promise.all(paths.map(path => pack.read(path)))) expect(name, bytes.length, size)
      console.log(`${paths.length} files of ${size} bytes at once: ${Math.round(performance.now() - start)} ms`)
      if (source.fetched > 2 * paths.length * size) fail(`${name}: ${source.fetched} bytes were fetched`)
    }
    else {
      const [path, from, to] = rest
      const read = async () => call === 'read'
        ? pack.read(path, to === null ? { start: from } : { start: from, end: to })
        : new Uint8Array(await (await pack.response(new Request(`https://a.example/${path}`, { headers: { Range: from } }))).arrayBuffer())
      let got = ''
      const code = await codeOf(read().then(bytes => { got = hexOf(bytes) }))
      expect(`${name} ${JSON.stringify(rest)}`, code === 'ok' ? got : code, rest.at(-1))
    }
  }
  pack?.close()
  console.log(`${name}: ${source.requests} requests, ${source.fetched} bytes of ${await source.size()}`)
}

/** Says what is wrong with a key text: its code, or 'ok'. */
async function keyOutcome(vector) {
  return importKey(JSON.parse(vector.get('text'))).then(() => 'ok', error => error.code ?? error.stack)
}

/** The cases of attack.py, one by one. */
async function * cases() {
  const words = options.inputs ? ['--inputs', options.inputs] : [options.seed, options.seconds ? -1 : options.count]
  const python = spawn(`${root}.venv/bin/python`, [`${root}Tests/Web/attack.py`, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  const done = new Promise(resolve => python.on('close', resolve))
  let rest = Buffer.alloc(0)
  for await (const piece of python.stdout) {
    rest = Buffer.concat([rest, piece])
    for (let end; (end = rest.indexOf(10)) >= 0;) {
      const [name, size] = rest.toString('latin1', 0, end).split(' ')
      if (rest.length < end + 1 + Number(size)) break
      yield { name, bytes: new Uint8Array(rest.subarray(end + 1, end + 1 + Number(size))) }
      rest = rest.subarray(end + 1 + Number(size))
    }
  }
  const status = await done
  if (status !== 0) fail(`attack.py ends with ${status}`)
}

const wasm = await readFile(new URL('../../.build/web/packer.wasm', import.meta.url))

/** The stack's place in packer.wasm: where it begins, and the first place of the program's data. */
function stackOf(bytes) {
  let place = 8
  const number = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[place++]
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  const found = {}
  while (place < bytes.length) {
    const section = bytes[place++]
    const end = number() + place
    if (section === 6) {
      // One global or more; the first one is the stack pointer: i32, mutable, i32.const N.
      number()
      place += 3
      found.pointerAt = place
      found.top = number()
      found.pointerSize = place - found.pointerAt
    }
    if (section === 11) {
      number()
      place += 2
      found.data = number()
    }
    place = end
  }
  return found
}

const stack = stackOf(wasm)
if (!(stack.top > 0 && stack.top <= stack.data)) fail(`the stack ends at ${stack.top}, above the data at ${stack.data}`)

/** The first bytes of a vector's pack, and its key. */
async function packOf(name) {
  const vector = vectorOf(new Uint8Array(await readFile(new URL(`../Vectors/${name}.vector`, import.meta.url))))
  return { content: vector.content, key: await importKey(vector.get('key')), text: vector.get('key') }
}

const some = await packOf('valid/segments-3-full')

/** What goes wrong with numbers, options and sources of a host. */
async function misuse() {
  const { content, key } = some
  const source = (size, read = async (start, end) => content.subarray(start, end)) => ({ name: 'source', size: async () => size, read })
  for (const size of [1e300, 2 ** 64, Infinity, 2 ** 53]) {
    expect(`size ${size}`, await codeOf(openPack(source(size, async (start, end) => {
      const bytes = new Uint8Array(end - start)
      bytes.set(content.subarray(start, Math.min(end, content.length)))
      return bytes
    }), key)), 'limit-exceeded')
  }
  expect('size NaN', await codeOf(openPack(source(NaN), key)), 'truncated')
  expect('a source that gives less', await codeOf(openPack(source(content.length, async () => content.subarray(0, 3)), key)), 'cannot-read')
  const pack = await openPack(new Blob([content]), key)
  const { path, size } = (await pack.entries()).find(entry => entry.size > 3)
  for (const [start, end] of [[NaN, 1], [0, NaN], [-1e300, 1], [2, 1], [-1, 1]]) {
    expect(`range ${start} ${end}`, await codeOf(pack.read(path, { start, end })), 'usage')
  }
  for (const end of [Infinity, 2 ** 64, size + 1]) expect(`range to ${end}`, await codeOf(pack.read(path, { start: 0, end })), 'range-not-satisfiable')
  expect('a range without an end', (await pack.read(path, { start: size - 2 })).length, 2)
  for (const policy of ['a\nb', '\x7f']) expect('a policy', await codeOf(pack.configure({ policy })), 'usage')
  for (const origin of ['*', 'null', 'https://A.example', 'https://a.example/']) expect(origin, await codeOf(pack.configure({ origins: [origin] })), 'usage')
  const trust = `pkp1-${'0'.repeat(64)}-00000000`
  expect('a key that is none', await codeOf(openRelease('https://a.example/', { trust, memory: { get: async () => ({}), set: async () => {} }, languages: [],
    fetch: async () => new Response('{') })), 'malformed-key')
  pack.close()
  expect('a closed pack', await codeOf(pack.read(path)), 'usage')
}

/** A source of numbers below a limit that gives the same ones for the same seed. */
function numbersOf(seed) {
  let state = seed >>> 0
  return limit => {
    state = Math.imul(state, 1664525) + 1013904223 >>> 0
    return Math.floor(state / 2 ** 32 * limit)
  }
}

/** Requests with odd targets and fields have an answer whose body is as long as it says, and ranges have the bytes of the file. */
async function requests(count) {
  const random = numbersOf(options.seed)
  const pick = list => list[random(list.length)]
  const pack = await openPack(new Blob([some.content]), some.key)
  const contents = new Map()
  for (const { kind, path } of await pack.entries()) {
    if (kind === 'file') contents.set(`/${encodeURIComponent(path)}`, await pack.read(path))
  }
  const targets = [...contents.keys()]
  const odd = ['%', '%2e', '%2F', '/', '//', '..', '%00', '%5c', '?', '#', '%C3%A4', '%c3', 'ä', '\ud800', ';', '%25', '%FF', '-', ',', '=', '0', '99999999999999999999',
    '18446744073709551615', '\t', '"', 'W/', '*', ' ', '\xff', '\0']
  const changed = text => {
    for (let changes = random(3); changes > 0; changes--) {
      const place = random(text.length + 1)
      text = text.slice(0, place) + (random(2) ? pick(odd) : '') + text.slice(place + random(2))
    }
    return text
  }
  const statuses = {}
  const ask = async (target, fields) => {
    const name = JSON.stringify([target, fields])
    try {
      const response = await pack.response({ method: pick(['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'x']), url: 'https://a.example/', headers: fields }, target)
      const body = new Uint8Array(await response.arrayBuffer())
      statuses[response.status] = (statuses[response.status] ?? 0) + 1
      if (body.length > 0 && Number(response.headers.get('Content-Length')) !== body.length) fail(`${name}: ${body.length} bytes`)
      const range = /^bytes (\d+)-(\d+)\//.exec(response.headers.get('Content-Range') ?? '')
      const file = contents.get(target)
      if (range && file && hexOf(body) !== hexOf(file.subarray(Number(range[1]), Number(range[2]) + 1))) fail(`${name}: other bytes`)
    } catch (error) {
      // A zero byte cannot be passed on. Nothing else is refused.
      if (error.code !== 'usage' || !name.includes('\\u0000')) fail(`${name}: ${error.stack}`)
      statuses.usage = (statuses.usage ?? 0) + 1
    }
  }
  const ranges = ['bytes=0-0', 'bytes=0-', 'bytes=-1', 'bytes=1-2,4-5', 'bytes=18446744073709551615-', 'bytes=-18446744073709551616', 'lines=1-2', 'bytes=9-1']
  for (let number = 0; number < count; number++) {
    const target = pick(targets)
    await ask(random(3) ? target : changed(target), [['Range', changed(pick(ranges))], ...random(4) ? [] : [['If-Match', changed('"a", W/"b"')]]])
  }
  const corpus = new URL('../Corpora/ranges/', import.meta.url)
  for (const file of await readdir(corpus)) {
    const [target, range, tags] = (await readFile(new URL(file, corpus))).toString('utf8').split('\n')
    await ask(target, [['Range', range], ['If-Match', tags]])
  }
  pack.close()
  console.log(`requests: ${Object.entries(statuses).map(([status, count]) => `${count} × ${status}`).join(', ')}`)
}

/** Keys and contents are not in memory any more when nothing needs them. */
async function leavings() {
  const find = bytes => Buffer.from(exports.memory.buffer).includes(bytes)
  const hex = '7d'.repeat(3) + some.text.slice(6)
  await importKey(hex)
  if (find(hex) || find(Buffer.from(hex, 'hex')) || find(Buffer.from(hex, 'hex').subarray(0, 16))) fail('a key is still in memory after it was imported')
  const open = async () => openPack(new Blob([some.content]), some.key)
  const pack = await open()
  const contents = []
  for (const { path, size, kind } of await pack.entries()) {
    if (kind === 'file' && size >= 64) contents.push(Buffer.from(await pack.read(path)))
  }
  if (!contents.some(find)) fail('no content is in memory while a pack is read')
  pack.close()
  exports.packer_forget_result()
  for (const content of contents) if (find(content.subarray(-64))) fail('content is still in memory after a pack was closed')
  for (let count = 0; count < 200; count++) (await open()).close()
  const size = exports.memory.buffer.byteLength
  for (let count = 0; count < 1000; count++) (await open()).close()
  if (exports.memory.buffer.byteLength - size > 1 << 17) fail(`memory grows by ${exports.memory.buffer.byteLength - size} bytes while 1000 packs are opened and closed`)
}

/** After a trap nothing of that instance is used any more, and the next pack has another one. */
async function traps() {
  const { content, key } = some
  const pack = await openPack(new Blob([content]), key)
  const { path } = (await pack.entries()).find(entry => entry.size > 3)
  const broken = await loadPacker()
  // A number of a block that no pack has.
  const code = await codeOf((async () => {
    for (let number = 1; number < 1 << 20; number++) broken.exports.packer_block(number, 1 << 30)
  })())
  expect('a trap', code, 'internal-error')
  if (new Uint8Array(broken.memory.buffer).some(byte => byte !== 0)) fail('the memory after a trap has bytes')
  expect('a pack after a trap', await codeOf(pack.read(path)), 'internal-error')
  pack.close()
  const other = await openPack(new Blob([content]), key)
  expect('the next pack', await codeOf(other.check()), 'ok')
  if (await loadPacker() === broken) fail('the instance of a trap is used again')
  other.close()

  // Memory that is not there is a trap, too. Nothing is written to it here, so the system has not given it, either.
  const { exports: hungry } = (await WebAssembly.instantiate(wasm, { packer: { random: () => {} } })).instance
  hungry._initialize()
  const pieces = []
  const said = await codeOf((async () => {
    while (pieces.length < 100) pieces.push(hungry.packer_allocate(100 << 20))
  })())
  if (!/RuntimeError/.test(said) || pieces.some(place => place <= 0)) fail(`${pieces.length} pieces of 100 MiB: ${said}`)

  // The same reader with next to no stack: a call too deep must end in a trap, and never in an answer.
  for (const size of [64, 512, 2048]) {
    const small = new Uint8Array(wasm)
    for (let place = 0; place < stack.pointerSize; place++) {
      small[stack.pointerAt + place] = size >> 7 * place & 127 | (place + 1 < stack.pointerSize ? 128 : 0)
    }
    const { exports } = (await WebAssembly.instantiate(small, { packer: { random: () => {} } })).instance
    let said
    try {
      exports._initialize()
      const text = new TextEncoder().encode(some.text)
      const start = exports.packer_allocate(text.length)
      new Uint8Array(exports.memory.buffer).set(text, start)
      said = exports.packer_key(start, text.length)
    } catch (error) {
      said = error.constructor.name
    }
    console.log(`a stack of ${size} bytes: ${said}`)
    if (said !== 'RuntimeError' && said !== 0) fail(`a stack of ${size} bytes: ${said}`)
    if (size === 64 && said === 0) fail('a stack of 64 bytes is enough')
  }
}

await misuse()
await leavings()
await requests(1000)

const counts = {}
const costs = []
let stricter = 0
const end = options.seconds ? performance.now() + 1000 * options.seconds : Infinity
for await (const { name, bytes } of cases()) {
  Atomics.add(current, 0, 1)
  const vector = name.endsWith('.sparse') ? { get: () => undefined, content: bytes } : vectorOf(bytes)
  const wanted = vector.get('expect')
  const start = performance.now()
  fetched = 0
  let differences = []
  if (name.endsWith('.sparse')) await readSparse(name, new TextDecoder().decode(bytes))
  else if (name.endsWith('.key-text')) {
    const got = await keyOutcome(vector)
    if (got !== wanted) differences.push(`${name}: ${got}, not ${wanted}`)
  } else {
    differences = (await runVectors([name], () => bytes)).differences
  }
  for (const difference of differences) {
    // What a zstd decoder reads behind the start of a damaged bit stream depends on the size of its registers, so one of 32 bits refuses a few such frames
    // that others take. It never takes what they refuse.
    if (difference.endsWith(': damaged, not ok') && vector.get('comment')?.endsWith(', with zstd')) stricter++
    else fail(`${difference} (${vector.get('comment')})`)
  }
  // Opening and checking reads a pack once, with its end twice, and each of its files once more.
  const budget = 4 * vector.content.length + (1 << 20)
  if (fetched > budget) fail(`${name}: ${fetched} bytes were fetched of a pack of ${vector.content.length}`)
  costs.push({ name, milliseconds: Math.round(performance.now() - start), fetched, size: vector.content.length })
  if (costs.length > 1000) costs.sort((a, b) => b.milliseconds - a.milliseconds).splice(5)
  const kind = name.split('/')[0]
  if (kind === 'sparse') continue
  counts[kind] ??= { ok: 0, refused: 0 }
  counts[kind][wanted === 'ok' ? 'ok' : 'refused']++
  if (performance.now() > end) break
}
for (const [kind, { ok, refused }] of Object.entries(counts).sort()) console.log(`${kind}: ${ok} accepted, ${refused} refused`)
for (const { name, milliseconds, fetched, size } of costs.sort((a, b) => b.milliseconds - a.milliseconds).slice(0, 3)) {
  console.log(`slow: ${name}, ${milliseconds} ms, ${fetched} bytes fetched of ${size}`)
}
console.log(`${stricter} damaged zstd frames are refused that decoders of 64 bits take`)
if (stricter > 1 + Object.values(counts).reduce((sum, { ok, refused }) => sum + ok + refused, 0) / 10_000) fail('those are too many')
console.log(`memory: ${exports.memory.buffer.byteLength >> 20} MiB; stack: ${stack.top - new Uint8Array(exports.memory.buffer).findIndex(byte => byte !== 0)} of ${stack.top} bytes`)
await traps()
console.log(`${failures} failures`)
process.exit(failures > 0 ? 1 : 0)
