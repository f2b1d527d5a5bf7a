// Reads packs of `packer` in browsers, in service workers and in Node. FORMAT.md of packer specifies the bytes, WEB.md explains the use.
//
// All that decides is in packer.wasm, which never waits: it answers, or names what it needs. This module fetches it, has WebCrypto open it, and asks again.

/** What is wrong with a pack, a key, a manifest or a server. `code` is stable; `message` and `hint` are for people. */
export class PackError extends Error {
  constructor({ code, message, subject, advice, hint }, options) {
    super(hint ? `${message} (hint: ${hint})` : message, options)
    this.name = 'PackError'
    Object.assign(this, { code, subject, advice, hint })
  }
}

/** How many bytes of a file are read before its digest is compared; a larger one is passed on as it comes, authenticated by its segments. */
const digestLimit = 8 << 20
/** How far ahead of its reader a body is fetched, in bytes. */
const aheadSize = 4 << 20
/** What is fetched at once of the start and of the end of a pack that is opened: header and first segment, seek table and index of usual packs. */
const startSize = (64 << 10) + 144
const headerSize = 16 << 10
const endSize = 128 << 10
/** The largest request, and the most at a time. */
const requestSize = 4 << 20
const requestCount = 4

const encoder = new TextEncoder()
const decoder = new TextDecoder()

// The core

let core
let compiled

/**
 * Loads packer.wasm. Called by everything else, so only a page that keeps it elsewhere needs it.
 *
 * @param wasm a URL, the bytes, a compiled module, or a promise of one; by default `packer.wasm` beside this file.
 */
export function loadPacker(wasm) {
  core ??= instantiate(wasm ?? compiled).catch(error => {
    core = undefined
    throw error
  })
  return core
}

async function instantiate(wasm) {
  const source = await wasm ?? new URL('packer.wasm', import.meta.url)
  const isLoaded = source instanceof WebAssembly.Module || source instanceof ArrayBuffer || ArrayBuffer.isView(source)
  const bytes = isLoaded ? source : await readWhole(new URL(source, globalThis.location?.href))
  compiled = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes)
  let memory
  // Seeds the hash tables, so that nobody can choose names that meet in one place.
  const random = (start, count) => { crypto.getRandomValues(new Uint8Array(memory.buffer, start, count)) }
  const instance = await WebAssembly.instantiate(compiled, { packer: { random } })
  memory = instance.exports.memory
  return new Core(instance)
}

async function readWhole(url) {
  if (url.protocol === 'file:') return (await import('node:fs/promises')).readFile(url)
  // What is smaller and asked for later is not to wait for it.
  const response = await fetch(url, { priority: 'low' })
  if (!response.ok) throw new PackError({ code: 'cannot-read', message: `${url} answers ${response.status}` })
  return response.arrayBuffer()
}

class Core {
  constructor({ exports }) {
    this.memory = exports.memory
    this.exports = Object.fromEntries(Object.entries(exports).map(([name, call]) => [name, typeof call === 'function' ? this.#guarded(name, call) : call]))
    this.exports._initialize()
  }

  /** A function after whose failure nothing of this instance is used any more: it stopped in the middle of a change. The next pack has a new instance. */
  #guarded(name, call) {
    return (...values) => {
      if (this.failure && /close|free/.test(name)) return undefined
      if (this.failure) throw this.failure
      try {
        return call(...values)
      } catch (cause) {
        core = undefined
        new Uint8Array(this.memory.buffer).fill(0)
        this.failure = new PackError({ code: 'internal-error', message: `packer.wasm failed in ${name}`, hint: 'open the pack again' }, { cause })
        throw this.failure
      }
    }
  }

  /** Calls `body` with the place of a copy of the bytes, which is overwritten and freed afterwards. */
  lend(bytes, body) {
    const start = this.exports.packer_allocate(bytes.length)
    new Uint8Array(this.memory.buffer, start, bytes.length).set(bytes)
    try {
      return body(start, bytes.length)
    } finally {
      this.exports.packer_free(start, bytes.length)
    }
  }

  /** Gives the answer to a request of a pack or a release: bytes, the number of a key, or undefined for a refusal. */
  answer(number, answer) {
    const give = this.exports.packer_answer
    if (answer === undefined) give(number, 0, 0, -1)
    else if (typeof answer === 'number') give(number, 0, 0, answer)
    else this.lend(answer, (start, count) => give(number, start, count, 0))
  }

  /** The result of the last call. It is overwritten by the next one. */
  get result() { return new Uint8Array(this.memory.buffer, this.exports.packer_result(), this.exports.packer_result_size()) }
  get json() { return JSON.parse(decoder.decode(this.result)) }

  /** Makes a call until it needs nothing more. `bring` fetches what it needs. Returns what `read` makes of the result. */
  async ask(call, bring, read = () => this.json) {
    for (;;) {
      const status = call(this.exports)
      if (status === 0) return read()
      if (status === 2) throw new PackError(this.json)
      await bring(this.json)
    }
  }
}

// Keys and what WebCrypto does with them

const hexOf = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
const bytesOf = hex => Uint8Array.from(hex.match(/../g) ?? [], pair => parseInt(pair, 16))

/**
 * Makes a key that this page can use and nobody can read back: of the text of a pack key (`pkk1-…`) or of a recipient's secret key (`pkx1-…`). Keep the
 * result in IndexedDB rather than the text.
 */
export async function importKey(text) {
  const core = await loadPacker()
  const bytes = encoder.encode(text)
  const status = core.lend(bytes, (start, count) => core.exports.packer_key(start, count))
  bytes.fill(0)
  if (status !== 0) throw new PackError(core.json)
  const secret = core.result.slice(1)
  const isRecipient = core.result[0] === 1
  core.exports.packer_forget_result()
  try {
    return isRecipient ? await importAgreement(secret) : await importDerivation(secret)
  } finally {
    secret.fill(0)
  }
}

const importDerivation = bytes => crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveBits', 'deriveKey'])

async function importAgreement(bytes) {
  // PKCS #8 of RFC 8410, which is the only form of a secret key that every browser takes.
  const key = new Uint8Array([...bytesOf('302e020100300506032b656e04220420'), ...bytes])
  try {
    return await crypto.subtle.importKey('pkcs8', key, 'X25519', false, ['deriveBits', 'deriveKey'])
  } finally {
    key.fill(0)
  }
}

/** The keys of one pack or release while it is opened. They cannot be exported; the bytes in between are in one function each. */
class Keys {
  constructor(first) { this.keys = [first] }

  /** Answers a request of the core: bytes, the number of a key, or undefined if WebCrypto refuses. */
  async answer(request) {
    const use = Keys[request.op]
    return use(request, request.key === undefined ? undefined : await this.key(request), key => this.keys.push(key) - 1)
  }

  /** The key with a number, or made of bytes that the core has. */
  async key({ op, key }) {
    if (key.startsWith('#')) return this.keys[Number(key.slice(1))]
    const bytes = bytesOf(key)
    try {
      switch (op) {
        case 'open': return await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['decrypt'])
        case 'hmac': return await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
        case 'derive': return await importDerivation(bytes)
        default: return await importAgreement(bytes)
      }
    } finally {
      bytes.fill(0)
    }
  }

  static async derive({ salt, info, count, use }, key, keep) {
    const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: bytesOf(salt), info: bytesOf(info) }
    switch (use) {
      case 'AES-GCM': return keep(await crypto.subtle.deriveKey(algorithm, key, { name: 'AES-GCM', length: 256 }, false, ['decrypt']))
      case 'HMAC': return keep(await crypto.subtle.deriveKey(algorithm, key, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign']))
    }
    // WebCrypto derives no key from which others are derived.
    const bits = new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, 8 * count))
    if (use === 'bytes') return bits
    try {
      return keep(await (use === 'HKDF' ? importDerivation(bits) : importAgreement(bits)))
    } finally {
      bits.fill(0)
    }
  }

  static async hmac({ message }, key) { return new Uint8Array(await crypto.subtle.sign('HMAC', key, bytesOf(message))) }

  static async open({ nonce, ciphertext }, key) {
    return crypto.subtle.decrypt({ name: 'AES-GCM', iv: bytesOf(nonce) }, key, bytesOf(ciphertext)).then(bytes => new Uint8Array(bytes), () => undefined)
  }

  static async public(_, key) {
    const base = await crypto.subtle.importKey('raw', new Uint8Array(32).fill(9, 0, 1), 'X25519', false, [])
    return new Uint8Array(await crypto.subtle.deriveBits({ name: 'X25519', public: base }, key, 256))
  }

  static async agree({ publicKey }, key, keep) {
    try {
      const other = await crypto.subtle.importKey('raw', bytesOf(publicKey), 'X25519', false, [])
      return keep(await crypto.subtle.deriveKey({ name: 'X25519', public: other }, key, 'HKDF', false, ['deriveBits', 'deriveKey']))
    } catch {
      return undefined
    }
  }

  static async verify({ publicKey, signature, message }) {
    try {
      const key = await crypto.subtle.importKey('raw', bytesOf(publicKey), 'Ed25519', false, ['verify'])
      return await crypto.subtle.verify('Ed25519', key, bytesOf(signature), bytesOf(message)) ? new Uint8Array() : undefined
    } catch {
      return undefined
    }
  }
}

// Where the bytes of a pack come from

/** The bytes of a `Blob` or `File`. */
class BlobSource {
  constructor(blob) {
    this.blob = blob
    this.name = blob.name ?? 'pack'
  }

  async size() { return this.blob.size }
  async read(start, end) { return new Uint8Array(await this.blob.slice(start, end).arrayBuffer()) }
}

/** The error of an address. One that is transient may be gone if it is asked again. */
function faultOf(url, fault, hint, { code = 'cannot-read', cause } = {}, isTransient = false) {
  return Object.assign(new PackError({ code, message: `${url} ${fault}`, subject: url, hint }, { cause }), { isTransient })
}

/** The bytes of an address, by ranges. */
export class HTTPSource {
  constructor(url, { size, fetch: fetcher, signal } = {}) {
    this.url = String(url)
    this.name = this.url
    this.expected = size
    this.fetch = fetcher ?? ((url, options) => fetch(url, options))
    this.signal = signal
  }

  async size() {
    if (this.expected === undefined) this.first = await this.request(0, startSize)
    return this.expected
  }

  async read(start, end) {
    if (this.first && end <= this.first.length) return this.first.subarray(start, end)
    return this.request(start, Math.min(end, this.expected))
  }

  async request(start, end) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.attempt(start, end)
      } catch (error) {
        if (!error.isTransient || attempt === 3 || this.signal?.aborted) throw error
        await new Promise(done => setTimeout(done, 250 * attempt))
      }
    }
  }

  async attempt(start, end) {
    // No other header, because a browser asks the server before it sends one to another origin.
    const options = { headers: { Range: `bytes=${start}-${end - 1}` }, cache: 'no-store', signal: this.signal }
    let response
    try {
      response = await this.fetch(this.url, options)
    } catch (error) {
      this.signal?.throwIfAborted()
      throw this.fault('cannot be fetched', 'connect the device; or allow this page at the server (CORS)', { cause: error }, true)
    }
    if (response.status === 416 && start === 0) throw this.fault('is empty', 'fetch the file again')
    if (response.status >= 500 || response.status === 429) throw this.fault(`answers ${response.status}`, 'try again', {}, true)
    if (response.status === 200) {
      await response.body?.cancel()
      throw this.fault('is sent as a whole, although a part was asked for', 'have the server answer ranges, and do not compress packs on the way')
    }
    if (response.status !== 206) throw this.fault(`answers ${response.status}`, 'check the address')
    if (response.headers.get('Content-Encoding')) throw this.fault('is compressed on the way', 'turn compression off for packs at the server')
    const said = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get('Content-Range') ?? '')
    const total = said ? Number(said[3]) : this.expected
    if (total === undefined) throw this.fault('does not say its size', 'expose the header Content-Range at the server (CORS)')
    if (said && (Number(said[1]) !== start || Number(said[2]) !== Math.min(end, total) - 1)) {
      throw this.fault(`sends bytes ${said[1]} to ${said[2]}, where ${start} to ${end - 1} were asked for`, 'check the server')
    }
    if (this.expected !== undefined && total !== this.expected) {
      throw this.fault(`is ${total} bytes, not ${this.expected}`, 'fetch the manifest again: the pack was replaced', { code: 'source-changed' })
    }
    const tag = response.headers.get('ETag')
    if (this.tag && tag && tag !== this.tag) throw this.fault('was changed between two requests', 'open the pack again', { code: 'source-changed' })
    this.tag ??= tag
    this.expected = total
    let bytes
    try {
      bytes = new Uint8Array(await response.arrayBuffer())
    } catch (error) {
      this.signal?.throwIfAborted()
      throw this.fault('stopped before its end', 'try again', { cause: error }, true)
    }
    if (bytes.length !== Math.min(end, total) - start) {
      throw this.fault(`sends ${bytes.length} bytes, where ${Math.min(end, total) - start} were asked for`, 'check the server and what is in between', {}, true)
    }
    return bytes
  }

  fault(...facts) { return faultOf(this.url, ...facts) }
}

/** How many pieces of a launch are on their way at once, and the bytes of the first ones. */
const pieceCount = 2
const pieceSize = 64 << 10
/** How many milliseconds a piece is to take. In between, it is twice the time of the quickest, most of which was the way there and back on a long line. */
const pieceTime = { least: 250, most: 1000 }

/**
 * The bytes of a pack that has a lead (FORMAT.md §9.9), of which the digests and the end of the pack are fetched first. What is read at the launch comes
 * beside, in its order, and what is asked for before its turn. Every segment is compared with its digest before it counts.
 */
export class LeadSource {
  #source
  #size
  #lead
  #options
  #opening
  /** The pieces of the launch, by the number of each segment in them. */
  #pieces = new Map()

  /**
   * @param source the other bytes: an object with `name` and `read(start, end)`.
   * @param size of the pack in bytes.
   * @param lead its `url`, `size`, `sha256`, `launch`, `leaves` and `tail`, as a pack of a release has them.
   * @param options `fetch` and `signal` for the request; `load` and `keep`, which read and store what is needed of the lead, and bytes of the pack.
   */
  constructor(source, size, lead, options = {}) {
    this.#source = source
    this.#size = size
    this.#lead = lead
    this.#options = options
  }

  get name() { return this.#source.name }
  /** From where on the end of the pack is in the lead. */
  get tail() { return this.#lead.tail }
  async size() { return this.#size }

  async read(start, end) {
    const open = await (this.#opening ??= this.#open().catch(error => {
      this.#opening = undefined
      throw error
    }))
    const { launch, tail } = this.#lead
    const bytes = new Uint8Array(end - start)
    const put = ([place, part]) => {
      const [from, to] = [Math.max(start, place), Math.min(end, place + part.length)]
      if (from < to) bytes.set(part.subarray(from - place, to - place), from - start)
    }
    const parts = open.end ? [[tail, open.end]] : []
    // What somebody has kept is asked for only if it is lost.
    const [first, last] = open.end ? [launch, tail] : [0, this.#size]
    parts.push(...await Promise.all(this.#launchPieces(start, Math.min(end, first), open)))
    const [from, to] = [Math.max(start, first), Math.min(end, last)]
    if (from < to) parts.push(await this.#segments(from, to, open))
    for (const part of parts) put(part)
    return bytes
  }

  /** The pieces that hold a range of the launch. What is not on its way yet is asked for now, before its turn. */
  #launchPieces(start, end, open) {
    const pieces = new Set()
    if (start >= end) return pieces
    for (let number = open.numberAt(start); open.startOf(number) < end; number++) {
      if (!this.#pieces.has(number)) this.#fetchPiece(number, open.numberAt(end - 1) + 1, open)
      pieces.add(this.#pieces.get(number))
    }
    return pieces
  }

  /** Fetches segments of the launch from `first` to before `end`, or to before one that is on its way. Each is fetched once. */
  #fetchPiece(first, end, open) {
    let last = first
    while (last + 1 < end && !this.#pieces.has(last + 1)) last++
    const coming = this.#segments(open.startOf(first), Math.min(this.#lead.launch, open.startOf(last + 1)), open).then(async part => {
      await this.#options.keep?.(undefined, [part])
      return part
    })
    for (let number = first; number <= last; number++) {
      this.#pieces.set(number, coming)
      // Fetched again by the next one that wants it.
      coming.catch(() => this.#pieces.delete(number))
    }
    return { coming, count: last + 1 - first }
  }

  /** Fetches the launch in its order, in pieces that grow with the rate. What fails is told to who asks for it. */
  async #fetchLaunch(open) {
    const end = open.numberAt(this.#lead.launch - 1) + 1
    const smallest = Math.max(1, pieceSize / open.segmentSize)
    let [next, size, quickest] = [0, smallest, Infinity]
    const run = async () => {
      while (next < end) {
        if (this.#pieces.has(next)) {
          next++
          continue
        }
        const asked = performance.now()
        const { coming, count } = this.#fetchPiece(next, Math.min(end, next + Math.round(size)), open)
        next += count
        await coming
        const time = performance.now() - asked
        quickest = Math.min(quickest, time)
        const fitting = count * Math.max(pieceTime.least, Math.min(pieceTime.most, 2 * quickest)) / time
        size = Math.max(smallest, size / 2, Math.min(fitting, 2 * size, requestSize / open.segmentSize))
      }
    }
    // Without digests nothing counts, so they and the first piece have the line for themselves.
    const first = this.#fetchPiece(0, Math.min(end, smallest), open)
    next = first.count
    await Promise.all([open.lead, first.coming])
    await Promise.all(Array.from({ length: pieceCount }, run))
  }

  /** Fetches the segments that hold a range, and compares them with their digests. Returns where their bytes begin, and these. */
  async #segments(start, end, open) {
    const { numberAt, startOf } = open
    const [first, last] = [numberAt(start), numberAt(end - 1)]
    const place = startOf(first)
    const bytes = await this.#source.read(place, Math.min(this.#size, startOf(last + 1)))
    await this.#check(bytes, first, last, number => startOf(number) - place, open.leaves ?? (await open.lead).leaves)
    return [place, bytes]
  }

  async #check(bytes, first, last, startOf, leaves) {
    for (let number = first; number <= last; number++) {
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes.subarray(startOf(number), startOf(number + 1))))
      if (digest.some((byte, index) => byte !== leaves[32 * number + index])) throw this.#fault(this.name, `segment ${number} has other bytes than the lead says`)
    }
  }

  /** Reads what was kept of the lead; without that, fetches it, and the launch. */
  async #open() {
    const layout = this.#layout()
    const kept = await this.#options.load?.()
    if (kept) return { ...layout, leaves: kept }
    const open = { ...layout, lead: this.#fetchLead(layout) }
    this.#fetchLaunch(open).catch(() => {})
    return Object.assign(open, await open.lead)
  }

  /** Fetches the digests, and the end of the pack. */
  async #fetchLead({ body, segmentSize, leavesSize }) {
    const { url, size, leaves: wanted, launch, tail } = this.#lead
    const bytes = await new HTTPSource(url, { ...this.#options, size }).read(0, size - launch)
    const [leaves, end] = [bytes.subarray(0, leavesSize), bytes.subarray(leavesSize)]
    if (hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', leaves))) !== wanted) throw this.#fault(url, 'has other bytes than the manifest says')
    const first = (tail - body) / segmentSize
    await this.#check(end, first, leavesSize / 32 - 1, number => (number - first) * segmentSize, leaves)
    await this.#options.keep?.(leaves, [[tail, end]])
    return { leaves, end }
  }

  /** Where segments begin and how large they are, which follows from the numbers of the lead. */
  #layout() {
    const { size, launch, tail, url } = this.#lead
    const leavesSize = size - launch - (this.#size - tail)
    const count = leavesSize / 32
    for (let segmentSize = 4096; segmentSize <= 1 << 20; segmentSize *= 2) {
      const before = count - Math.ceil((this.#size - tail) / segmentSize) - (tail - launch) / segmentSize
      const body = launch - before * segmentSize
      if (launch > tail || tail >= this.#size || before < 1 || !Number.isInteger(before) || body < 132 || body > 132 + 16384) continue
      if (Math.ceil((this.#size - body) / segmentSize) !== count) continue
      // The header belongs to the first one.
      const startOf = number => number === 0 ? 0 : body + number * segmentSize
      const numberAt = place => Math.max(0, Math.floor((place - body) / segmentSize))
      return { body, segmentSize, leavesSize, startOf, numberAt }
    }
    throw this.#fault(url, 'does not fit the segments of its pack', 'wrong-pack')
  }

  #fault(url, fault, code = 'digest-mismatch') { return faultOf(url, fault, 'fetch it again, from a trusted place', { code }) }
}

// Packs

/**
 * Opens a pack.
 *
 * @param source a URL whose server answers ranges, a `Blob`, or an object with `name`, `size()` and `read(start, end)`.
 * @param key a result of `importKey`, or the text of a key.
 * @param options `size` of the pack in bytes, if it is known; `signal` and `fetch` for the requests.
 */
export async function openPack(source, key, options = {}) {
  const from = source instanceof Blob ? new BlobSource(source) : typeof source === 'string' || source instanceof URL ? new HTTPSource(source, options) : source
  // On their way while packer.wasm is.
  const sized = sizeAndEdges(from)
  sized.catch(() => {})
  const core = await loadPacker()
  const secret = typeof key === 'string' ? await importKey(key) : key
  const pack = new Pack(core, from, secret)
  try {
    await pack.open(await sized)
    return pack
  } catch (error) {
    pack.close()
    throw error
  }
}

/** The size of a pack, and its start and its end, which are fetched at once: from where to where they go, and their bytes. */
async function sizeAndEdges(source) {
  const size = await source.size()
  // The first segment of a pack with a lead comes as a part of the launch.
  const first = Math.min(size, source.tail === undefined ? startSize : headerSize)
  const last = Math.max(first, source.tail ?? size - endSize)
  const edges = [[0, first], [last, size]].filter(([start, end]) => start < end).map(([start, end]) => {
    const bytes = readWholly(source, start, end)
    bytes.catch(() => {})
    return { start, end, bytes }
  })
  return { size, edges }
}

/** Bytes of a source, all of them: it may have less than it said. */
async function readWholly(source, start, end) {
  const bytes = await source.read(start, end)
  if (bytes.length === end - start) return bytes
  const name = source.name
  throw new PackError({ code: 'cannot-read', message: `${name} gives ${bytes.length} bytes, where ${end - start} were asked for`, subject: name })
}

/** An open pack. Call `close` when it is not needed any more. */
export class Pack {
  #core
  #source
  #keys
  #segmentKey
  #number
  /** What was fetched of the start and of the end. */
  #edges
  /** Segments on their way, by their numbers. */
  #coming = new Map()
  /** Ends when nobody has the turn. */
  #turn = Promise.resolve()

  constructor(core, source, key) {
    this.#core = core
    this.#source = source
    this.#keys = new Keys(key)
    this.isRecipient = key.algorithm.name === 'X25519'
  }

  async open({ size, edges }) {
    this.#edges = edges
    const name = encoder.encode(this.#source.name)
    this.#number = this.#core.lend(name, (start, count) => this.#core.exports.packer_begin(start, count, size, this.isRecipient ? 1 : 0))
    this.size = size
    Object.assign(this, await this.#ask(core => core.packer_open(this.#number)))
    this.#keys = undefined
  }

  /** Closes the pack, and overwrites what is in memory of it. */
  close() {
    if (this.#number !== undefined) this.#core.exports.packer_close(this.#number)
    this.#number = undefined
    this.#edges = undefined
  }

  /** All entries, in the order of their paths: `{path, kind, size, sha256}`. */
  async entries() {
    const all = []
    for (let number = 0; number < this.blockCount; number++) {
      all.push(...(await this.#ask(core => core.packer_block(this.#number, number))).entries)
    }
    return all
  }

  /** The bytes of a file, or those from `start` to before `end`. The digest is compared if it is the whole file. */
  async read(path, range) {
    return this.#collect(await this.#body(path, range))
  }

  /** The same as a stream, in pieces of at most a frame. The digest of a whole file is compared if it has at most 8 MiB. */
  async stream(path, range) { return this.#stream(await this.#body(path, range)) }

  /** Sets what responses have: `index`, `fallback`, `isolated`, `policy` (Content-Security-Policy), `cache` (Cache-Control), `origins`. */
  async configure({ index = '', fallback = '', isolated = false, policy = '', cache = '', origins = [] }) {
    const text = [index, fallback, isolated ? '1' : '', policy, cache, ...origins].map(field => `${field}\0`).join('')
    await this.#ask(core => this.#core.lend(encoder.encode(text), (start, count) => core.packer_options(this.#number, start, count)))
  }

  /**
   * Answers a request with a file of the pack, as `packer serve` and the web view's handler do.
   *
   * @param request a `Request`.
   * @param target the address below the pack, if it is not the path of the request: `/img/a.png?v=3`.
   * @param options `isWhole` if the body is not to come in pieces, because nobody would notice that the last ones are missing; `ended` is called when the
   *   body was read, cancelled, or failed with an error.
   */
  async response(request, target, { isWhole = false, ended } = {}) {
    const url = new URL(request.url)
    const fields = [request.method, target ?? url.pathname + url.search]
    for (const [name, value] of request.headers) fields.push(name, value)
    const text = encoder.encode(fields.map(field => `${field}\0`).join(''))
    const answer = await this.#ask(core => this.#core.lend(text, (start, count) => core.packer_respond(this.#number, start, count)))
    const headers = new Headers(answer.headers.map(({ name, value }) => [name, value]))
    const init = { status: answer.status, headers }
    const isSmall = answer.length <= digestLimit
    if (answer.body === undefined || isWhole || answer.whole && isSmall) {
      const content = answer.body === undefined ? null : await this.#collect(isSmall ? answer : { ...answer, whole: undefined })
      ended?.()
      return new Response(content, init)
    }
    return new Response(this.#stream(answer, ended), init)
  }

  /** Checks the whole pack as a client does that unpacks it: every tag, every frame, every digest. Calls `progress` with the bytes of content done. */
  async check(progress) {
    for (;;) {
      const { done, isOver } = await this.#ask(core => core.packer_check(this.#number))
      if (isOver) return
      progress?.(done)
    }
  }

  /** Checks that it is the pack of a release. Called by `Release`. */
  async match(release, id) {
    await this.#ask(core => this.#core.lend(id, (start, count) => core.packer_match(this.#number, release, start, count)))
  }

  /** Checks that the index is the tree with a content root, in hexadecimal. The whole index is read. */
  async matchRoot(root) {
    const bytes = bytesOf(root)
    await this.#ask(core => this.#core.lend(bytes, (start, count) => core.packer_match_root(this.#number, start, count)))
  }

  async #body(path, range) {
    const name = encoder.encode(path)
    const { start = 0, end = -1 } = range ?? {}
    return this.#ask(core => this.#core.lend(name, (place, count) => core.packer_read(this.#number, place, count, start, end)))
  }

  #next(body) { return this.#ask(core => core.packer_next(this.#number, body), () => this.#core.result.slice()) }

  async #collect(answer) {
    // The size in the index is not trusted until that many bytes were read. A piece has at most 8 MiB.
    let content = new Uint8Array(Math.min(answer.length, 2 * digestLimit))
    let done = 0
    for (let piece; (piece = await this.#next(answer.body)).length > 0; done += piece.length) {
      this.#goAhead(answer.body)
      if (done + piece.length > content.length) {
        const part = content
        content = new Uint8Array(Math.min(answer.length, 2 * part.length))
        content.set(part)
      }
      content.set(piece, done)
    }
    if (answer.whole) await this.#compare(content, answer)
    return content
  }

  async #compare(content, { whole, wholePath }) {
    if (hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', content))) === whole) return
    throw new PackError({
      code: 'digest-mismatch', message: `${this.#source.name}: the content of '${wholePath}' does not match the index`, subject: this.#source.name,
      advice: 'fetch-from-trusted-place', hint: 'fetch the file from a trusted place; the program that made it is faulty or hostile',
    })
  }

  #stream(answer, ended) {
    if (answer.whole && answer.length <= digestLimit) {
      return new ReadableStream({
        pull: async controller => {
          const content = await this.#collect(answer)
          if (content.length > 0) controller.enqueue(content)
          controller.close()
        },
      })
    }
    let isCancelled = false
    return new ReadableStream({
      pull: async controller => {
        try {
          const piece = await this.#next(answer.body)
          if (piece.length > 0) {
            if (isCancelled) return
            this.#goAhead(answer.body)
            return controller.enqueue(piece)
          }
        } catch (error) {
          // A reader that went away while a piece was on its way.
          if (isCancelled) return
          this.#closeBody(answer)
          ended?.(error)
          throw error
        }
        if (isCancelled) return
        controller.close()
        ended?.()
      },
      cancel: () => {
        isCancelled = true
        this.#closeBody(answer)
        ended?.()
      },
    }, { highWaterMark: 1 })
  }

  #closeBody({ body }) { if (this.#number !== undefined) this.#core.exports.packer_close_body(this.#number, body) }

  /** Begins to fetch what a body needs next. */
  #goAhead(body) {
    if (this.#core.exports.packer_ahead(this.#number, body, aheadSize) !== 0) return
    const { segments = [] } = this.#core.json
    this.#fetch(segments).catch(() => {})
  }

  async #ask(call, read) {
    if (this.#number === undefined) throw new PackError({ code: 'usage', message: 'the pack is closed' })
    let rounds = 0
    let endTurn
    try {
      return await this.#core.ask(call, async wants => {
        // Readers of large frames push out each other's segments before they are used. Whoever lacks some again gets them while nobody else does.
        if (wants.segments && rounds++ > 0 && !endTurn) {
          const before = this.#turn
          this.#turn = new Promise(resolve => { endTurn = resolve })
          await before
        }
        return this.#bring(wants)
      }, read)
    } finally {
      endTurn?.()
    }
  }

  async #bring({ crypto: request, start, segments, key }) {
    if (request) return this.#core.answer(this.#number, await this.#keys.answer(request))
    if (key !== undefined) this.#segmentKey ??= this.#keys.keys[key]
    if (segments) return this.#fetch(segments)
    const bytes = await this.#bytes(0, Math.min(this.size, Math.max(start, headerSize)))
    this.#core.lend(bytes, (place, count) => this.#core.exports.packer_take_start(this.#number, place, count))
  }

  /** Fetches and opens segments, neighbours together. */
  async #fetch(segments) {
    const own = []
    const all = new Set()
    for (const segment of segments) {
      const known = this.#coming.get(segment.number)
      if (known) { all.add(known); continue }
      const run = own.at(-1)
      if (run && run.at(-1).end === segment.start && segment.end - run[0].start <= requestSize) run.push(segment)
      else own.push([segment])
    }
    for (const run of own) {
      const coming = this.#bringRun(run).finally(() => { for (const { number } of run) this.#coming.delete(number) })
      for (const { number } of run) this.#coming.set(number, coming)
      all.add(coming)
      if (all.size % requestCount === 0) await Promise.all(all)
    }
    await Promise.all(all)
  }

  async #bringRun(run) {
    const start = run[0].start
    const bytes = await this.#bytes(start, run.at(-1).end)
    await Promise.all(run.map(segment => this.#openSegment(segment, bytes.subarray(segment.start - start, segment.end - start))))
  }

  /** Bytes of the pack, those of its edges as they were fetched. */
  async #bytes(start, end) {
    const parts = []
    let place = start
    const add = to => {
      if (place < to) parts.push(readWholly(this.#source, place, to))
      place = Math.max(place, to)
    }
    for (const edge of this.#edges ?? []) {
      add(Math.min(end, edge.start))
      const [from, to] = [place, Math.min(end, edge.end)]
      if (from < to && from >= edge.start) parts.push(edge.bytes.then(bytes => bytes.subarray(from - edge.start, to - edge.start)))
      place = Math.max(place, to)
    }
    add(end)
    const found = await Promise.all(parts)
    return found.length === 1 ? found[0] : new Uint8Array(await new Blob(found).arrayBuffer())
  }

  async #openSegment({ number, nonce, middle }, ciphertext) {
    const exports = this.#core.exports
    const open = iv => crypto.subtle.decrypt({ name: 'AES-GCM', iv: bytesOf(iv) }, this.#segmentKey, ciphertext)
      .then(bytes => new Uint8Array(bytes), () => undefined)
    const plaintext = await open(nonce)
    const wasMiddle = !plaintext && middle !== undefined && await open(middle) !== undefined
    if (this.#number === undefined) return
    if (plaintext) this.#core.lend(plaintext, (place, count) => exports.packer_take_segment(this.#number, number, place, count))
    else exports.packer_fail_segment(this.#number, number, wasMiddle ? 1 : 0)
    plaintext?.fill(0)
  }
}

// Releases

/** The largest manifest, in bytes. */
const manifestSize = 1 << 20

/**
 * Opens the release that a manifest names: its signature, its expiry, and that it is not older than what this page accepted before.
 *
 * Without a network it is the one that was accepted last, if there is one; `isStored` says so.
 *
 * @param url the address of the manifest.
 * @param options `trust`: the public keys (`pkp1-…`) or the keys document, as texts; `memory` for what has to be kept, by default in IndexedDB;
 *   `languages` of the user; `clock`, which returns the time in milliseconds; `fetch` and `signal` for the requests; `at`, the address of a folder that has
 *   the files of the release, in place of the one that the manifest names.
 */
export async function openRelease(url, { trust, memory = new StoredMemory(String(url)), languages, clock, fetch: fetcher, signal, at } = {}) {
  // On its way while packer.wasm is.
  const reading = readFile(url, manifestSize, fetcher, signal)
  reading.catch(() => {})
  const core = await loadPacker()
  const release = new Release(core, String(url), [trust].flat(), memory, languages ?? globalThis.navigator?.languages ?? [], clock ?? Date.now, fetcher, signal, at)
  try {
    await release.open(reading)
    return release
  } catch (error) {
    release.close()
    throw error
  }
}

/** What a page remembers of a release, in IndexedDB. */
class StoredMemory {
  constructor(name) { this.name = name }

  async get() { return this.run('readonly', store => store.get(this.name)) }
  async set(value) { return this.run('readwrite', store => store.put(value, this.name)) }

  async run(mode, use) {
    if (!globalThis.indexedDB) throw new PackError({ code: 'usage', message: 'there is no IndexedDB here', hint: "give 'memory'" })
    const done = request => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
    const opening = indexedDB.open('packer', 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore('releases')
    const database = await done(opening)
    try {
      return await done(use(database.transaction('releases', mode).objectStore('releases')))
    } finally {
      database.close()
    }
  }
}

/** A release whose manifest was accepted: `version`, `expires`, `packs`. Call `close` when it is not needed any more. */
export class Release {
  #core
  #number
  #memory
  #languages
  #clock
  #keys = new Keys()
  #fetch
  #signal
  #kept
  #at

  constructor(core, url, trust, memory, languages, clock, fetcher, signal, at) {
    this.#at = at
    this.#core = core
    this.url = url
    this.#memory = memory
    this.#clock = clock
    this.#languages = encoder.encode(languages.map(language => `${language}\0`).join(''))
    this.#fetch = fetcher ?? ((address, options) => fetch(address, options))
    this.#signal = signal
    const text = encoder.encode([url, ...trust].map(field => `${field}\0`).join(''))
    this.#number = core.lend(text, (start, count) => core.exports.packer_trust(start, count))
  }

  /** @param reading the bytes of the manifest, on their way. */
  async open(reading) {
    this.#kept = await this.#memory.get() ?? {}
    let document
    try {
      document = await reading
    } catch (error) {
      if (!error.isTransient || !this.#kept.document) throw error
      this.isStored = true
      document = this.#kept.document
    }
    this.#give(document)
    const { keysRecord, failure } = await this.#ask(core => core.packer_follow(this.#number))
    // Keys that were withdrawn stay withdrawn, also if the manifest is refused.
    if (keysRecord && keysRecord !== this.#kept.keysRecord) await this.#keep({ keysRecord })
    if (failure) throw new PackError(failure)
    this.#give(document)
    const { accepted, ...info } = await this.#ask(core => this.#core.lend(this.#languages, (start, count) =>
      core.packer_accept(this.#number, this.#clock() / 1000, this.isStored ? 1 : 0, start, count)))
    Object.assign(this, this.#moved(info))
    if (!this.isStored) await this.#keep({ accepted, document })
  }

  /** Forgets what is in memory of the release. Its packs stay open. */
  close() {
    if (this.#number !== undefined) this.#core.exports.packer_close_release(this.#number)
    this.#number = undefined
  }

  /** The packs of the catalogue, which are fetched. The others are in `packs`. */
  async catalogue() {
    const all = []
    for (const number of this.shards.keys()) all.push(...await this.shard(number))
    return all
  }

  /** The packs of one of the catalogue's files, by its place in `shards`. */
  async shard(number) {
    const { url, size } = this.shards[number]
    const bytes = await readFile(url, size, this.#fetch, this.#signal)
    const both = new Uint8Array(bytes.length + this.#languages.length)
    both.set(bytes)
    both.set(this.#languages, bytes.length)
    const { packs } = await this.#ask(core => this.#core.lend(both, (start, count) =>
      core.packer_shard(this.#number, number, start, count, bytes.length)))
    return this.#moved({ packs }).packs
  }

  /**
   * Opens a pack of the release, and checks that it is the one that the manifest names. Its whole index is read.
   *
   * @param pack an element of `packs` or of the catalogue.
   * @param source where its bytes are, if not at its address.
   */
  async openPack(pack, key, source) {
    await this.use(pack)
    const options = { size: pack.size, fetch: this.#fetch, signal: this.#signal }
    const from = new HTTPSource(pack.url, options)
    const open = await openPack(source ?? (pack.lead ? new LeadSource(from, pack.size, pack.lead, options) : from), key, options)
    try {
      await open.match(this.#number, encoder.encode(pack.id))
      return open
    } catch (error) {
      open.close()
      throw error
    }
  }

  /** Refuses a pack that is older than one that was used before, and remembers its version. Called by `openPack`. */
  async use(pack) {
    const id = encoder.encode(pack.id)
    const { accepted } = await this.#ask(core => this.#core.lend(id, (start, count) => core.packer_use(this.#number, start, count)))
    if (accepted !== this.#kept.accepted) await this.#keep({ accepted })
  }

  /** With the addresses of files in the folder that was given in place of the manifest's. */
  #moved({ packs, shards, ...rest }) {
    const move = file => file && { ...file, url: this.#at ? new URL(file.url.replace(/^[^?#]*\//, ''), this.#at).href : file.url }
    return { ...rest, packs: packs.map(pack => ({ ...move(pack), lead: move(pack.lead) })), shards: shards?.map(move) }
  }

  async #keep(changes) {
    Object.assign(this.#kept, changes)
    await this.#memory.set(this.#kept)
  }

  #give(document) {
    const record = encoder.encode(this.#kept.keysRecord ?? '')
    const accepted = encoder.encode(this.#kept.accepted ?? '')
    const all = new Uint8Array(document.length + record.length + accepted.length)
    all.set(document)
    all.set(record, document.length)
    all.set(accepted, document.length + record.length)
    this.#core.lend(all, (start, count) => this.#core.exports.packer_take_manifest(this.#number, start, count, document.length, record.length))
  }

  async #ask(call) {
    if (this.#number === undefined) throw new PackError({ code: 'usage', message: 'the release is closed' })
    return this.#core.ask(call, async ({ crypto: request }) => this.#core.answer(this.#number, await this.#keys.answer(request)))
  }
}

/** A whole file; of one that is larger than `limit` bytes only so much that the core refuses it. */
async function readFile(url, limit, fetcher = fetch, signal) {
  let response
  try {
    response = await fetcher(url, { cache: 'no-cache', signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw faultOf(url, 'cannot be fetched', 'connect the device; or allow this page at the server (CORS)', { cause: error }, true)
  }
  if (!response.ok) throw faultOf(url, `answers ${response.status}`, 'check the address', {}, response.status >= 500)
  const pieces = []
  let size = 0
  try {
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.length
      pieces.push(value)
      if (size > limit) {
        await reader.cancel()
        break
      }
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw faultOf(url, 'stopped before its end', 'try again', { cause: error }, true)
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer())
}
