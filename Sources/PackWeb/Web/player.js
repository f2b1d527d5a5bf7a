// What the page and the service worker of the player share: which games there are, with their keys, and the ciphertext that was fetched.
//
// A game is at `games/<id>/` beside this file. Nothing here is ever plaintext of a pack, and keys are stored as objects that cannot be exported.

import { HTTPSource, LeadSource, PackError, importKey, loadPacker, openRelease } from './packer.js'

/** Where this file, the page and the worker are: the scope of the worker. */
export const home = new URL('./', import.meta.url)

/** The address of a game. */
export const addressOf = id => new URL(`games/${encodeURIComponent(id)}/`, home)

// The page

/**
 * Registers the worker and hands it the games. Without a network, the games of the last time are there.
 *
 * @param configuration the address of a configuration, the promise of its response, or the object that is in it: `{manifest, trust, key}` for the packs of a
 *   release, with their key or, as `keys`, one for each id; `games` are the ids of those that are played, if not all, and `at` is the folder that has the
 *   files of the release, if not the one that the manifest names. Or `{packs: {id: {url, size, key, ...}}}`. Besides these a pack has `name`, `version` if the address does not change with the content, `offline` to fetch all of it in the background, and what
 *   `Pack.configure` takes, and so has a release for all of its packs.
 * @param additions what is not in the configuration, such as the keys of a player.
 * @returns the games, as `{id: {url, size, name, ...}}`, and as `warning` the error if they are those of the last time.
 */
export async function begin(configuration, additions) {
  if (!navigator.serviceWorker) {
    throw new PackError({
      code: 'unsupported', message: 'this page cannot have a service worker', hint: 'open it with https, and not in a private window',
    })
  }
  // On a slow line every wait counts, so all of it is on its way at once, and what others wait for is first.
  const configured = configurationAt(configuration)
  const loading = loadPacker()
  for (const early of [loading, configured]) early.catch(() => {})
  // A new worker comes with a new packer.wasm, so what the old one has is read first.
  if (navigator.serviceWorker.controller) await loading
  const offered = configured.then(found => packsOf({ ...found, ...additions }))
  offered.catch(() => {})
  await Promise.all([loading, register()])
  try {
    return { games: await install(await offered) }
  } catch (error) {
    const { current, next } = await releases()
    if (!current && !next) throw error
    console.warn(error)
    return { games: (next ?? current).games, warning: error }
  }
}

/** That of the worker, which a page outside its folder has only from here. */
let registration

async function register() {
  const fault = (error, hint) => new PackError({ code: 'no-worker', message: 'the service worker cannot be started', hint }, { cause: error })
  registration = await navigator.serviceWorker.register(new URL('worker.js', home), { type: 'module', updateViaCache: 'none' }).catch(async error => {
    const known = await navigator.serviceWorker.getRegistration(home)
    if (known?.active) return known
    throw fault(error, `see that ${new URL('worker.js', home)} is at the server, with the type text/javascript; 'packer serve' sends it with --service-workers`)
  })
  const worker = registration.active ?? registration.waiting ?? registration.installing
  await new Promise((done, fail) => {
    const look = () => {
      if (worker.state === 'activated' || worker.state === 'activating') done()
      if (worker.state === 'redundant') fail(fault(undefined, 'see that all files of the player are at the server'))
    }
    worker.addEventListener('statechange', look)
    look()
  })
}

async function ask(question) {
  const { active } = registration ?? await navigator.serviceWorker.ready
  const channel = new MessageChannel()
  const answer = new Promise(done => { channel.port1.onmessage = ({ data }) => done(data) })
  active.postMessage(question, [channel.port2])
  const { error, value } = await answer
  if (error) throw new PackError(error)
  return value
}

/**
 * Has the worker open a game. Returns the address of its page, or throws what is wrong with the pack, its key or its server.
 *
 * A page in the folder of the player may then fetch the files of the game, too.
 */
export async function start(id) {
  await ask({ start: id })
  if (location.href.startsWith(home.href) && !navigator.serviceWorker.controller) {
    // The worker has claimed this page.
    await new Promise(done => navigator.serviceWorker.addEventListener('controllerchange', done, { once: true }))
  }
  return addressOf(id)
}

/** The bytes of a file of a game, or those from `start` to before `end` of `range`. */
export const read = (id, path, range) => ask({ read: id, path, range })

/** The games, as `begin` returns them, each with the bytes of it that are `kept` here. */
export async function list() {
  const { current, next } = await releases()
  const kept = new Map((await keptPacks()).map(({ name, kept }) => [name, kept]))
  const games = Object.entries((next ?? current)?.games ?? {})
  return Object.fromEntries(games.map(([id, game]) => [id, { ...game, kept: kept.get(cacheName(game.identity)) ?? 0 }]))
}

/** Forgets what is kept of a game, which is fetched again when it is played or kept. A page of it that is open may miss what it is reading. */
export async function forget(id) {
  await ask({ forget: id })
  room = undefined
}

/**
 * Fetches what is missing of a game, so that it can be played without a network.
 *
 * @param progress is called with the bytes that are kept and the size of the pack.
 * @returns whether all of it is kept. It is not if the browser gives no more room.
 */
export async function keep(id, progress, signal) {
  const { current, next } = await releases()
  const game = gameIn(next ?? current, id)
  if (!game) throw missing(id)
  return sourceOf(game, { signal }).keepAll(progress)
}

async function configurationAt(configuration) {
  let url = 'the configuration'
  if (typeof configuration === 'string' || configuration instanceof URL) {
    url = new URL(configuration, location.href)
    // It may have keys, which no cache is to keep.
    configuration = fetch(url, { cache: 'no-store' })
  }
  const response = await Promise.resolve(configuration).catch(error => {
    throw new PackError({ code: 'cannot-read', message: `${url} cannot be fetched`, hint: 'connect the device' }, { cause: error })
  })
  if (!(response instanceof Response)) return response
  url = response.url
  if (!response.ok) throw new PackError({ code: 'cannot-read', message: `${url} answers ${response.status}`, hint: 'check the address' })
  return response.json().catch(error => {
    throw new PackError({ code: 'usage', message: `${url} is not JSON` }, { cause: error })
  })
}

/** The packs of a configuration, of the manifest that it names if it names one. */
async function packsOf(configuration) {
  if (configuration.manifest === undefined) return configuration
  const { manifest, trust, key, keys, games, at, ...options } = configuration
  const release = await openRelease(new URL(manifest, location.href), { trust, at: at && new URL(at, location.href) })
  try {
    // Then the games are those of the last time.
    if (release.isStored) throw new PackError({ code: 'cannot-read', message: `${release.url} cannot be fetched`, hint: 'connect the device' })
    const packs = {}
    for (const pack of [...release.packs, ...await release.catalogue()]) {
      if (games ? !games.includes(pack.id) : !pack.isForUser) continue
      await release.use(pack)
      const { id, url, size, name, version, sha256, contentRoot, lead } = pack
      packs[id] = { ...options, url, size, name, version, sha256, contentRoot, lead, key: keys && Object.hasOwn(keys, id) ? keys[id] : key }
    }
    return { packs }
  } finally {
    release.close()
  }
}

/** The game of a release with an id, which anybody can write into an address. */
export const gameIn = (release, id) => release && Object.hasOwn(release.games, id) ? release.games[id] : undefined

export const missing = id => new PackError({ code: 'no-such-game', message: `there is no game '${id}' here` })

// The games

/**
 * Takes a list of games for the next start, all of them or none. A game that is being played goes on with the version it began with.
 *
 * @returns the games as they are stored.
 */
async function install({ packs }) {
  const games = {}
  for (const [id, { url, size, key, ...rest }] of Object.entries(packs ?? {})) {
    const lost = [!url && 'url', !Number.isSafeInteger(size) && 'size', !key && 'key'].filter(Boolean)
    if (lost.length > 0) {
      throw new PackError({ code: 'usage', message: `the configuration has no ${lost.join(' and no ')} of '${id}'`, subject: id })
    }
    const address = new URL(url, location.href).href
    const name = new TextEncoder().encode(rest.sha256 ?? `${address} ${size} ${rest.version ?? ''}`)
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', name)).subarray(0, 16)
    const identity = Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')
    games[id] = { ...rest, url: address, size, identity, key: typeof key === 'string' ? await importKey(key) : key }
  }
  await transact('readwrite', store => store.put({ games }, 'next'))
  return games
}

/** The release that is being played, and the one that is taken at the next start. */
export async function releases() {
  const [current, next] = await Promise.all(['current', 'next'].map(name => transact('readonly', store => store.get(name))))
  return { current, next }
}

/** Makes the next release the current one, and forgets the packs that are in no release any more. */
export async function takeNext() {
  const next = await transact('readonly', store => store.get('next'))
  if (!next) return
  await transact('readwrite', store => {
    store.put(next, 'current')
    return store.delete('next')
  })
  const names = new Set(Object.values(next.games).map(({ identity }) => cacheName(identity)))
  for (const { name } of await keptPacks()) if (!names.has(name)) await caches.delete(name)
}

/** Notes the content of a game when it is first opened, and refuses another one until the next start. */
export async function checkContent(id, game, { contentRoot }) {
  const { current } = await releases()
  const known = gameIn(current, id)
  if (known?.identity !== game.identity) return
  if (known.contentRoot && known.contentRoot !== contentRoot) {
    throw new PackError({
      code: 'source-changed', message: `${game.url} has other content now`, subject: game.url, hint: 'start the game again from its first page',
    })
  }
  if (known.contentRoot) return
  known.contentRoot = contentRoot
  await transact('readwrite', store => store.put(current, 'current'))
}

/** Runs one request on the only store of the only database. */
async function transact(mode, request) {
  const opening = indexedDB.open('packer-player', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore('releases')
  const database = await settled(opening, 'onsuccess')
  try {
    const transaction = database.transaction('releases', mode)
    const asked = request(transaction.objectStore('releases'))
    await settled(transaction, 'oncomplete')
    return asked.result
  } finally {
    database.close()
  }
}

function settled(request, event) {
  return new Promise((done, fail) => {
    request[event] = () => done(request.result)
    request.onerror = request.onabort = request.onblocked = () => fail(request.error ?? new Error('the database of the player cannot be opened'))
  })
}

// Ciphertext that is kept

const prefix = 'packer-pack-'
const cacheName = identity => prefix + identity
/** The largest piece that is stored as one, because a part of it is not read without the whole. */
const pieceSize = 512 << 10
/** How many bytes may be on their way to the disk before a reader waits. */
const waitingSize = 16 << 20
/** How much of a pack is fetched at once in the background. */
const stepSize = 4 << 20

/** The source of a game's pack. */
export function sourceOf({ url, size, identity, lead }, options = {}) {
  const source = new HTTPSource(url, { size, ...options })
  if (!lead) return new KeptSource(source, identity, { size })
  const load = () => kept.loadLead()
  const keep = (leaves, edges) => kept.keepLead(leaves, edges)
  const kept = new KeptSource(new LeadSource(source, size, lead, { ...options, load, keep }), identity, { size })
  return kept
}

/** The packs of which something is kept: name, bytes on the disk, bytes of the pack, and when they were last opened. */
async function keptPacks() {
  const packs = []
  for (const name of await caches.keys()) {
    if (!name.startsWith(prefix)) continue
    const cache = await caches.open(name)
    const used = await cache.match('used')
    let [size, kept, last] = [0, 0, 0]
    // Two that fetched the same may both have stored it.
    for (const { start, end } of rangesOf(await cache.keys()).sort((one, other) => one.start - other.start)) {
      size += end - start
      kept += Math.max(0, end - Math.max(start, last))
      last = Math.max(last, end)
    }
    packs.push({ name, size, kept, used: Number(await used?.text() ?? 0) })
  }
  return packs
}

const rangesOf = requests => requests.map(({ url }) => /\/(\d+)-(\d+)$/.exec(url)).filter(Boolean)
  .map(found => ({ start: Number(found[1]), end: Number(found[2]) }))

/**
 * The bytes of a pack as another source has them, which are kept in the browser as they come: ciphertext only.
 *
 * If there is no room, the packs that were not opened for the longest time are forgotten. If there is still none, or the browser keeps nothing, nothing
 * more is kept, and reading goes on. What is kept is checked like everything else of a pack, when it is opened.
 */
export class KeptSource {
  #source
  #name
  #size
  #quota
  /** What is kept, in no order. */
  #ranges
  #waiting = 0
  #isFull = false
  /** Tells the other pages and workers what was stored. */
  #channel

  /**
   * @param source an object with `name`, `size()` and `read(start, end)`.
   * @param identity a name of these bytes, which no other bytes have.
   * @param options `size` in bytes if it is known, without which nothing opens offline; `quota` for all packs together, in bytes.
   */
  constructor(source, identity, { size, quota = 4 * 2 ** 30 } = {}) {
    this.#source = source
    this.#name = cacheName(identity)
    this.#size = size
    this.#quota = quota
  }

  get name() { return this.#source.name }
  get tail() { return this.#source.tail }
  async size() { return this.#size ??= await this.#source.size() }

  async read(start, end) {
    const parts = await this.#parts(start, end)
    const content = async part => part.kept && await this.#load(part) || this.#fetch(part.start, part.end)
    if (parts.length === 1) return content(parts[0])
    const bytes = new Uint8Array(end - start)
    await Promise.all(parts.map(async part => bytes.set(await content(part), part.start - start)))
    return bytes
  }

  /** Fetches and keeps what is missing. Calls `progress` with the bytes that are kept and those of the pack. Returns whether all is kept. */
  async keepAll(progress) {
    const size = await this.size()
    let done = 0
    for (const part of await this.#parts(0, size)) {
      if (!part.kept) {
        for (let start = part.start; start < part.end; start += stepSize) {
          const end = Math.min(part.end, start + stepSize)
          await this.#store(start, await this.#source.read(start, end))
          if (this.#isFull) return false
          progress?.(done + end - part.start, size)
        }
      }
      done += part.end - part.start
      progress?.(done, size)
    }
    return true
  }

  /** The digests of the lead, if they were kept. */
  async loadLead() {
    try {
      const response = await (await caches.open(this.#name)).match('lead')
      return response && new Uint8Array(await response.arrayBuffer())
    } catch { /* Then it is fetched again. */ }
  }

  /** Keeps the digests of a lead, and bytes of the pack that were compared with them. */
  async keepLead(leaves, edges) {
    for (const [start, bytes] of edges) await this.#store(start, bytes)
    if (leaves && !this.#isFull) await (await caches.open(this.#name)).put('lead', new Response(leaves)).catch(() => {})
  }

  /** Forgets what is kept, and keeps nothing more. */
  async forget() {
    this.#isFull = true
    this.#ranges = Promise.resolve([])
    await caches.delete(this.#name).catch(() => {})
    room = undefined
  }

  /** Divides a range into parts that are kept as one, and parts that are not kept. */
  async #parts(start, end) {
    const ranges = await (this.#ranges ??= this.#list())
    const near = ranges.filter(range => range.start < end && range.end > start)
    const parts = []
    for (let place = start; place < end;) {
      const kept = near.find(range => range.start <= place && range.end > place)
      const next = kept ? Math.min(end, kept.end) : Math.min(end, ...near.map(range => range.start).filter(start => start > place))
      parts.push({ start: place, end: next, kept })
      place = next
    }
    return parts
  }

  async #list() {
    try {
      const cache = await caches.open(this.#name)
      await cache.put('used', new Response(`${Date.now()}`))
      this.#channel = new BroadcastChannel(this.#name)
      this.#channel.onmessage = async ({ data }) => { (await this.#ranges)?.push(data) }
      return rangesOf(await cache.keys())
    } catch {
      this.#isFull = true
      return []
    }
  }

  /** The bytes of a part that is kept; nothing if they are gone. */
  async #load({ start, end, kept }) {
    try {
      const response = await (await caches.open(this.#name)).match(`${kept.start}-${kept.end}`)
      const content = new Uint8Array(await response.arrayBuffer())
      if (content.length === kept.end - kept.start) return content.subarray(start - kept.start, end - kept.start)
    } catch { /* Then it is fetched again. */ }
    this.#ranges = (await this.#ranges).filter(range => range !== kept)
  }

  async #fetch(start, end) {
    const bytes = await this.#source.read(start, end)
    // With the lead, they were kept already.
    if ((await this.#parts(start, end)).every(({ kept }) => kept)) return bytes
    this.#waiting += bytes.length
    const storing = this.#store(start, bytes).finally(() => { this.#waiting -= bytes.length })
    if (this.#waiting > waitingSize) await storing
    return bytes
  }

  /** Keeps bytes, if there is room. */
  async #store(start, bytes) {
    for (let place = 0; place < bytes.length && !this.#isFull; place += pieceSize) {
      const piece = bytes.subarray(place, place + pieceSize)
      const range = { start: start + place, end: start + place + piece.length }
      try {
        if (!await this.#put(range, piece)) return
        (await this.#ranges)?.push(range)
        this.#channel?.postMessage(range)
      } catch {
        this.#isFull = true
      }
    }
  }

  async #put(range, piece) {
    for (;;) {
      room ??= keptPacks().then(packs => packs.reduce((sum, { size }) => sum + size, 0))
      if (await room + piece.length <= this.#quota) {
        try {
          await (await caches.open(this.#name)).put(`${range.start}-${range.end}`, new Response(piece))
          room = Promise.resolve(await room + piece.length)
          return true
        } catch (error) {
          if (error.name !== 'QuotaExceededError') throw error
        }
      }
      const oldest = (await keptPacks()).filter(({ name }) => name !== this.#name).sort((one, other) => one.used - other.used)[0]
      room = undefined
      if (!oldest) {
        this.#isFull = true
        return false
      }
      await caches.delete(oldest.name)
    }
  }
}

/** The bytes of all packs that are kept. */
let room
