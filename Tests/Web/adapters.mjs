// Plays a pack through the adapter for Electron, in Node, whose Request and Response are those of the same standard.
// With a pack, the file of its key and the directory it was made of: that one, whose files are compared.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileSource, schemeHandler } from '../../.build/web/adapters.js'
import { importKey, openPack } from '../../.build/web/packer.js'
import { vectorOf } from './vectors.mjs'

const [, , own, keyFile, tree] = process.argv
const vector = vectorOf(await readFile(new URL('../Vectors/valid/identical-files.vector', import.meta.url)))
const text = own ? (await readFile(keyFile, 'utf8')).match(/^pkk1.*$/m)[0] : vector.get('key')
const folder = await mkdtemp(join(tmpdir(), 'packer-adapters-'))
let count = 0
try {
  const path = join(folder, 'arcade.pack')
  await writeFile(path, own ? await readFile(own) : vector.content)
  const source = await fileSource(path)
  const pack = await openPack(source, await importKey(text))
  const handle = schemeHandler({ arcade: pack })
  const ask = (target, options) => { count++; return handle(new Request(`pack://${target}`, options)) }
  const bytes = async response => new Uint8Array(await response.arrayBuffer())

  const files = (await pack.entries()).filter(entry => entry.kind === 'file')
  assert(files.length > 0)
  for (const { path, size } of files) {
    const whole = await pack.read(path)
    if (tree) assert.deepEqual(Buffer.from(whole), await readFile(join(tree, path)))
    const target = `arcade/${path.split('/').map(encodeURIComponent).join('/')}`
    const response = await ask(`${target}?v=1`)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('Content-Length'), `${size}`)
    assert.deepEqual(await bytes(response), whole)
    const head = await ask(target, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers.get('Content-Length'), (await bytes(head)).length], [200, `${size}`, 0])
    assert.equal((await ask(target, { headers: { 'If-None-Match': response.headers.get('ETag') } })).status, 304)
    if (size < 2) continue
    const part = await ask(target, { headers: { Range: `bytes=1-${size - 1}` } })
    assert.deepEqual([part.status, part.headers.get('Content-Range')], [206, `bytes 1-${size - 1}/${size}`])
    assert.deepEqual(await bytes(part), whole.subarray(1))
  }
  assert.equal((await ask('arcade/none.png')).status, 404)
  assert.equal((await ask(`arcade/${files[0].path}`, { method: 'POST' })).status, 405)
  for (const other of ['other', 'constructor']) assert.equal((await ask(`${other}/index.html`)).status, 404)

  // A file that became shorter is an error, and nothing of it is shown.
  await truncate(path, 100)
  await assert.rejects(openPack(source, text), { name: 'PackError' })
  await assert.rejects(source.read(50, 200), { name: 'PackError', code: 'cannot-read' })
  await source.close()
} finally {
  await rm(folder, { recursive: true })
}
console.log(`${count} requests of ${new URL(import.meta.url).pathname.split('/').pop()} passed`)
