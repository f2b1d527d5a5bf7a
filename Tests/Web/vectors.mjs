// Reads every vector of a full pack with the reader for browsers, and compares what it says with the vector. Runs in Node, and in a page.

import { loadPacker, openPack, importKey, PackError } from '../../.build/web/packer.js'

/** The classes of FORMAT.md, section 0.4, by the codes of errors. */
const classes = {
  'not-a-pack': 'not-a-pack', unsupported: 'unsupported', 'no-usable-key': 'no-usable-key', 'wrong-key': 'wrong-key', 'not-wrapped': 'wrong-key',
  truncated: 'truncated', 'limit-exceeded': 'limit', 'damaged-header': 'damaged', 'authentication-failed': 'damaged', 'damaged-payload': 'damaged',
  'damaged-archive': 'damaged', 'digest-mismatch': 'damaged', 'illegal-path': 'damaged',
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
    const keys = []
    for (const kind of ['key', 'root']) if (vector.get(kind)) keys.push(await importKey(vector.get(kind)))
    if (vector.get('recipient')) keys.push(await recipient(vector.get('recipient')))
    for (const key of keys) {
      count++
      const wanted = vector.get('client') ?? vector.get('expect')
      const got = await outcome(vector, key)
      if (got !== wanted) differences.push(`${name}: ${got}, not ${wanted}`)
    }
  }
  return { count, differences }
}

if (globalThis.process?.argv) {
  const { readFile, readdir } = await import('node:fs/promises')
  const folder = new URL('../Vectors/', import.meta.url)
  const names = []
  for (const part of ['valid', 'refused-open', 'hostile', 'others']) {
    for (const name of (await readdir(new URL(part, folder))).sort()) if (name.endsWith('.vector')) names.push(`${part}/${name}`)
  }
  await loadPacker()
  const { count, differences } = await runVectors(names, async name => new Uint8Array(await readFile(new URL(name, folder))))
  for (const difference of differences) console.error(difference)
  console.log(`${count - differences.length} passed, ${differences.length} failed`)
  if (differences.length > 0 || count < 600) process.exit(1)
}
