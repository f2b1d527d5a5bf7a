// Reads every vector of full packs, manifests, keys documents and shards with the reader for browsers, and compares what it says with the vector. Runs in
// Node, and in a page.

import { LeadSource, loadPacker, openPack, openRelease, importKey, PackError } from '../../.build/web/packer.js'

/** The classes of FORMAT.md, section 0.4, by the codes of errors. */
const classes = {
  'not-a-pack': 'not-a-pack', unsupported: 'unsupported', 'no-usable-key': 'no-usable-key', 'wrong-key': 'wrong-key', 'not-wrapped': 'wrong-key',
  truncated: 'truncated', 'limit-exceeded': 'limit', 'damaged-header': 'damaged', 'authentication-failed': 'damaged', 'damaged-payload': 'damaged',
  'damaged-archive': 'damaged', 'digest-mismatch': 'damaged', 'illegal-path': 'damaged',
  'damaged-manifest': 'damaged', 'untrusted-signature': 'untrusted', 'damaged-keys': 'damaged', 'untrusted-keys': 'untrusted', 'wrong-shard': 'damaged',
}

/** Reads the header of a vector: its lines, and the bytes behind them. */
export function vectorOf(bytes) {
  let end = 0
  while (bytes[end] !== 10 || bytes[end + 1] !== 10) end++
  const lines = new TextDecoder().decode(bytes.subarray(0, end)).split('\n').map(line => {
    const colon = line.indexOf(': ')
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  const all = key => lines.filter(line => line[0] === key).map(line => line[1])
  return { all, get: key => all(key)[0], content: bytes.subarray(end + 2) }
}

export const bytesOf = hex => Uint8Array.from(hex.match(/../g), pair => parseInt(pair, 16))

/** The key of a recipient, of its bytes. */
function recipient(hex) {
  return crypto.subtle.importKey('pkcs8', bytesOf(`302e020100300506032b656e04220420${hex}`), 'X25519', false, ['deriveBits', 'deriveKey'])
}

/** What the reader says of a pack with a key: 'ok', or a class, and what differs from the vector otherwise. */
async function outcome({ all, get, content }, key) {
  let pack
  try {
    pack = await openPack(new Blob([content]), key)
    await pack.check()
    if (get('expect') !== 'ok') return 'ok'
    const entries = await pack.entries()
    const paths = entries.map(entry => entry.path + (entry.kind === 'directory' ? '/' : ''))
    if (paths.join('\n') !== all('path').join('\n')) return `lists ${paths}`
    const digests = entries.filter(entry => entry.kind === 'file').map(entry => entry.sha256)
    if (digests.join('\n') !== all('sha256').join('\n')) return 'has other digests'
    for (const { path, kind, size } of entries) {
      if (kind === 'file' && (await pack.read(path)).length !== size) return `reads less of ${path}`
    }
    return 'ok'
  } catch (error) {
    if (error instanceof PackError) return classes[error.code] ?? error.code
    return `throws ${error.stack}`
  } finally {
    pack?.close()
  }
}

const encoder = new TextEncoder()
const hexOf = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
const labelled = async (label, bytes) => hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array([...encoder.encode(`${label}\0`), ...bytes]))))

/** The text of a public key. */
async function publicText(hex) { return `pkp1-${hex}-${(await labelled('pack/v1/sig-public-text', bytesOf(hex))).slice(0, 8)}` }

/** A memory that is gone with the page. */
class Memory {
  constructor(value) { this.value = value }
  async get() { return this.value }
  async set(value) { this.value = { ...value } }
}

/** What a page says of a manifest. */
async function manifestOutcome({ all, get, content }) {
  // As a page does without a network, for which a manifest may have expired.
  const open = (trust, memory) => openRelease('https://example.com/manifest.json', {
    trust, memory, languages: [], fetch: async () => { throw new TypeError('no network') },
  })
  const trust = all('embed')
  for (const hex of all('trust')) {
    const text = await publicText(hex)
    // A key that is none counts as not given.
    const refusal = await open(text, new Memory({ document: new Uint8Array(1) })).catch(error => error)
    if (refusal.code !== 'malformed-key') trust.push(text)
  }
  const memory = new Memory({ document: content })
  let said = 'ok'
  try {
    const release = await open(trust, memory)
    const packs = release.packs.map(({ id, version, size }) => `${id} ${version} ${size}`)
    if (packs.join('\n') !== all('pack').join('\n')) said = `lists ${packs}`
    if (release.signers.join() !== all('signer').join()) said = `names the signers ${release.signers}`
    if (`${release.version}` !== get('version')) said = `has version ${release.version}`
    release.close()
  } catch (error) {
    said = error instanceof PackError ? classes[error.code] ?? error.code : `throws ${error.stack}`
  }
  if (get('embed')) {
    const followed = memory.value?.keysRecord
    const newest = followed ? JSON.parse(followed).at(-1) : JSON.parse(get('embed'))
    if (`${newest.signed.version}` !== get('keys')) said += `, and counts the keys of version ${newest.signed.version}`
  }
  return said
}

/** What a page says of a shard of a manifest that is signed here. */
async function shardOutcome({ all, get, content }) {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
  const key = hexOf(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)))
  const id = (await labelled('pack/v1/sig-key', bytesOf(key))).slice(0, 16)
  const signature = await crypto.subtle.sign('Ed25519', pair.privateKey, encoder.encode(`pack/v1/manifest\0${get('signed')}`))
  const document = `{"signatures":[{"keyid":"${id}","sig":"${hexOf(new Uint8Array(signature))}"}],"signed":${get('signed')}}`
  try {
    const release = await openRelease('https://example.com/manifest.json', {
      trust: await publicText(key), memory: new Memory(), languages: [], clock: () => 0,
      fetch: async url => new Response(url.endsWith('.json') ? document : content),
    })
    const packs = await release.shard(Number(get('shard')))
    release.close()
    const ids = packs.map(pack => JSON.stringify(pack.id))
    return ids.join() === all('id').map(id => JSON.stringify(JSON.parse(id))).join() ? 'ok' : `lists ${ids}`
  } catch (error) {
    return error instanceof PackError ? classes[error.code] ?? error.code : `throws ${error.stack}`
  }
}

/** What a page says of a lead, and then of the segments that are not in it. */
async function leadOutcome({ get, content }, pack) {
  const stream = JSON.parse(get('stream'))
  const fetch = async (_, { headers }) => {
    const part = content.subarray(0, Number(/(\d+)$/.exec(headers.Range)[1]) + 1)
    return part.length === 0 ? new Response('', { status: 416 })
      : new Response(part, { status: 206, headers: { 'Content-Range': `bytes 0-${part.length - 1}/${content.length}` } })
  }
  const name = 'https://example.com/lead'
  const source = new LeadSource({ name, read: async (start, end) => pack.subarray(start, end) }, pack.length, { ...stream, url: name }, { fetch })
  const refused = error => {
    if (['digest-mismatch', 'wrong-pack', 'source-changed', 'cannot-read'].includes(error.code)) return 'damaged'
    throw error
  }
  try {
    await source.read(0, 1)
  } catch (error) {
    return refused(error)
  }
  const header = new DataView(pack.buffer, pack.byteOffset)
  const [body, segmentSize] = [132 + header.getUint32(96, true), header.getUint32(12, true)]
  for (let number = 0, start = 0; start < pack.length; number++) {
    const end = Math.min(pack.length, body + (number + 1) * segmentSize)
    try {
      const bytes = await source.read(start, end)
      if (bytes.some((byte, index) => byte !== pack[start + index])) return `reads other bytes of segment ${number}`
    } catch (error) {
      return `${refused(error)} ${number}`
    }
    start = end
  }
  return 'ok'
}

/**
 * Runs the vectors.
 *
 * @param names paths below the folder of vectors.
 * @param read returns the bytes of one.
 * @returns the number of cases, and the differences as texts.
 */
export async function runVectors(names, read) {
  const differences = []
  let count = 0
  for (const name of names) {
    const vector = vectorOf(await read(name))
    const compare = got => {
      count++
      const wanted = vector.get('client') ?? vector.get('expect')
      if (got !== wanted) differences.push(`${name}: ${got}, not ${wanted}`)
    }
    if (name.endsWith('.manifest-vector')) compare(await manifestOutcome(vector))
    if (name.endsWith('.shard-vector')) compare(await shardOutcome(vector))
    if (name.endsWith('.lead-vector')) {
      const said = await leadOutcome(vector, await read(`leads/packs/${vector.get('pack')}`))
      const segment = vector.get('segment')
      // The start is read from the pack.
      if (name.endsWith('/file-start-changed.lead-vector')) {
        compare(said === 'ok' ? 'damaged' : said)
        continue
      }
      compare(segment !== undefined && said === `damaged ${segment}` ? 'damaged' : segment === undefined ? said : `${said} in place of segment ${segment}`)
      continue
    }
    const keys = []
    for (const kind of ['key', 'root']) if (vector.get(kind)) keys.push(await importKey(vector.get(kind)))
    if (vector.get('recipient')) keys.push(await recipient(vector.get('recipient')))
    if (name.endsWith('.vector')) for (const key of keys) compare(await outcome(vector, key))
  }
  return { count, differences }
}

if (globalThis.process?.argv[1] === new URL(import.meta.url).pathname) {
  const { readFile, readdir } = await import('node:fs/promises')
  const folder = new URL('../Vectors/', import.meta.url)
  const names = []
  for (const part of ['valid', 'refused-open', 'hostile', 'others', 'manifest', 'shards', 'leads']) {
    for (const name of (await readdir(new URL(part, folder))).sort()) if (name.endsWith('vector')) names.push(`${part}/${name}`)
  }
  await loadPacker()
  const { count, differences } = await runVectors(names, async name => new Uint8Array(await readFile(new URL(name, folder))))
  for (const difference of differences) console.error(difference)
  console.log(`${count - differences.length} passed, ${differences.length} failed`)
  if (differences.length > 0 || count < 1000) process.exit(1)
}
