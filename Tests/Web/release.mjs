// Opens a release as a page does, and says in JSON what it sees. `release.py` makes the release and calls it:
// node release.mjs STEPS, JSON of a list with what each page gets: the folder of the release, the address that stands for it, keys, and what is read.

import { readFile } from 'node:fs/promises'
import { loadPacker, openRelease, importKey, PackError } from '../../.build/web/packer.js'

const steps = JSON.parse(process.argv[2])
await loadPacker()
const answers = []
let kept
for (const { folder, base, trust, key, down = false, now, read = [], instead = {}, at, together } of steps) {
  const requests = []
  const answer = { requests, files: {} }
  const fetchFile = async (url, { headers } = {}) => {
    if (down) throw new TypeError('no network')
    const name = String(url).slice(base.length)
    requests.push(headers?.Range ? `${name} ${headers.Range}` : name)
    // No answer of a pack until it was asked for as often as that.
    const asked = () => requests.filter(request => request.startsWith(`${name} `)).length
    for (const end = Date.now() + 10_000; headers?.Range && asked() < together && Date.now() < end;) await new Promise(done => setTimeout(done, 10))
    if (headers?.Range && asked() < together) throw new TypeError('no other request')
    const bytes = await readFile(`${folder}/${instead[name] ?? name}`).catch(() => undefined)
    if (!bytes) return new Response('', { status: 404 })
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers?.Range ?? '')
    if (!range) return new Response(bytes)
    const [start, end] = [Number(range[1]), Math.min(Number(range[2]), bytes.length - 1)]
    return new Response(bytes.subarray(start, end + 1), { status: 206, headers: { 'Content-Range': `bytes ${start}-${end}/${bytes.length}` } })
  }
  try {
    const release = await openRelease(`${base}manifest.json`, {
      trust, languages: ['en'], fetch: fetchFile, memory: { get: async () => kept, set: async value => { kept = structuredClone(value) } },
      clock: now === undefined ? Date.now : () => now * 1000, at,
    })
    answer.version = release.version
    answer.isStored = release.isStored ?? false
    const all = [...release.packs, ...release.isStored ? [] : await release.catalogue()]
    answer.packs = all.map(({ id, version, isForUser }) => [id, version, isForUser])
    const own = await importKey(key)
    for (const [id, path] of read) {
      const pack = await release.openPack(all.find(pack => pack.id === id), own)
      answer.files[`${id}/${path}`] = Buffer.from(await pack.read(path)).toString('base64')
      pack.close()
    }
    release.close()
  } catch (error) {
    if (!(error instanceof PackError)) throw error
    answer.error = error.code
    answer.message = error.message
  }
  answers.push(answer)
}
console.log(JSON.stringify(answers))
