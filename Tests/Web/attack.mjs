// Attacks the reader for browsers, in Node: changed packs, manifests, shards and keys, of which it must say what the second implementation says, and inputs
// that would cost much, never end, or reach a trap.
//
//   attack.mjs [--seed N] [--count N | --seconds N] [--inputs DIR]   (for --inputs see attack.py)

import { spawn } from 'node:child_process'
import { createCipheriv } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { importKey, loadPacker, openPack, openRelease, PackError } from '../../.build/web/packer.js'
import { bytesOf, runVectors, vectorOf } from './vectors.mjs'

const options = { seed: 1 + Math.floor(Math.random() * 1e9), count: 1500 }
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

const counts = {}
const costs = []
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
  for (const difference of differences) fail(`${difference} (${vector.get('comment')})`)
  // Opening and checking reads a pack once, with its end twice, and each of its files once more.
  const budget = 4 * vector.content.length + (1 << 20)
  if (fetched > budget) fail(`${name}: ${fetched} bytes were fetched of a pack of ${vector.content.length}`)
  costs.push({ name, milliseconds: Math.round(performance.now() - start), fetched, size: vector.content.length })
  if (costs.length > 1000) costs.sort((a, b) => b.milliseconds - a.milliseconds).splice(5)
  const kind = name.split('/')[0]
  if (kind === "sparse") continue
  counts[kind] ??= { ok: 0, refused: 0 }
  counts[kind][wanted === 'ok' ? 'ok' : 'refused']++
  if (performance.now() > end) break
}
for (const [kind, { ok, refused }] of Object.entries(counts).sort()) console.log(`${kind}: ${ok} accepted, ${refused} refused`)
for (const { name, milliseconds, fetched, size } of costs.sort((a, b) => b.milliseconds - a.milliseconds).slice(0, 3)) {
  console.log(`slow: ${name}, ${milliseconds} ms, ${fetched} bytes fetched of ${size}`)
}
console.log(`memory of the core: ${exports.memory.buffer.byteLength >> 20} MiB`)
console.log(`${failures} failures`)
process.exit(failures > 0 ? 1 : 0)
