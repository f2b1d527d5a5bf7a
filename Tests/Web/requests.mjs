// What the reader for browsers asks for of a pack with a lead, and when: its launch comes in order, in pieces that grow with the rate of the line.

import assert from 'node:assert/strict'
import { LeadSource, PackError } from '../../.build/web/packer.js'

const segmentSize = 65536
const body = 144
const name = 'https://example.com/pack'
const sleep = milliseconds => new Promise(done => setTimeout(done, milliseconds))
const digestOf = async bytes => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

/** A line with a rate in bytes a second and a way there and back in milliseconds, and what was asked for over it: when, and how many bytes. */
class Line {
  asked = []
  #free = 0

  constructor(rate, trip) { Object.assign(this, { rate, trip }) }

  async carry(label, bytes) {
    const now = performance.now()
    this.asked.push({ label, count: bytes.length, at: now })
    this.#free = Math.max(this.#free, now + this.trip) + 1000 * bytes.length / this.rate
    await sleep(this.#free - now)
    return bytes
  }
}

/** A pack of `count` segments whose launch has the first `launched` of them, at the other end of a line. */
async function offered(count, launched, line) {
  const pack = new Uint8Array(body + count * segmentSize)
  for (let place = 0; place < pack.length; place += segmentSize) crypto.getRandomValues(pack.subarray(place, place + segmentSize))
  const [launch, tail] = [body + launched * segmentSize, body + (count - 1) * segmentSize]
  const leaves = new Uint8Array(32 * count)
  for (let number = 0; number < count; number++) {
    leaves.set(await digestOf(pack.subarray(number === 0 ? 0 : body + number * segmentSize, body + (number + 1) * segmentSize)), 32 * number)
  }
  const lead = { url: `${name}.lead`, launch, tail, size: leaves.length + launch + pack.length - tail, leaves: Buffer.from(await digestOf(leaves)).toString('hex') }
  const front = new Uint8Array([...leaves, ...pack.subarray(tail)])
  const fetch = async () => {
    const bytes = await line.carry('lead', front)
    return new Response(bytes, { status: 206, headers: { 'Content-Range': `bytes 0-${bytes.length - 1}/${lead.size}` } })
  }
  const source = { name, read: (start, end) => line.carry(start, pack.slice(start, end)) }
  return { pack, launch, tail, source: new LeadSource(source, pack.length, lead, { fetch }) }
}

/** Waits until all of the launch was asked for: each byte once, and in order but for pieces that begin at one of `early`. Returns the sizes of the pieces. */
async function whole(line, launch, early = []) {
  const pieces = () => line.asked.filter(({ label }) => label !== 'lead')
  const sum = () => pieces().reduce((sum, { count }) => sum + count, 0)
  while (sum() < launch) await sleep(20)
  const ordered = pieces().map(({ label }) => label).filter(label => !early.includes(label))
  assert.deepEqual(ordered, ordered.slice().sort((one, other) => one - other))
  assert.equal(sum(), launch)
  return pieces().map(({ count }) => count)
}

const tests = {
  async 'pieces stay small on a slow line, so that what is asked for is not behind much else'() {
    const line = new Line(128 << 10, 100)
    const { launch, source } = await offered(20, 10, line)
    await source.read(0, 100)
    const sizes = await whole(line, launch)
    assert.ok(Math.max(...sizes) <= 2 * segmentSize, `${sizes}`)
  },

  async 'pieces grow on a fast line with a long way'() {
    const line = new Line(64 << 20, 100)
    const { pack, launch, source } = await offered(260, 256, line)
    await source.read(0, 100)
    const sizes = await whole(line, launch)
    const largest = Math.max(...sizes)
    assert.ok(largest >= 1 << 20 && largest <= 4 << 20, `${sizes}`)
    const before = line.asked.length
    assert.deepEqual(await source.read(0, launch), pack.slice(0, launch))
    assert.equal(line.asked.length, before)
  },

  async 'nothing is asked for beside the lead and the first piece'() {
    const line = new Line(256 << 10, 50)
    const { source } = await offered(20, 12, line)
    await source.read(0, 100)
    const [lead, first, second] = line.asked
    assert.deepEqual([lead.label, first.label, first.count], ['lead', 0, body + segmentSize])
    assert.ok(!second || second.at - lead.at > 1000 * (lead.count + first.count) / line.rate, 'the second piece is asked for too early')
  },

  async 'what is asked for comes before its turn, and only once'() {
    const line = new Line(512 << 10, 20)
    const { pack, launch, source } = await offered(20, 16, line)
    await source.read(0, 100)
    const start = body + 12 * segmentSize
    assert.deepEqual(await source.read(start + 5, start + 50), pack.slice(start + 5, start + 50))
    assert.ok(line.asked.length < 9, `it was not asked for before its turn: ${line.asked.map(({ label }) => label)}`)
    await whole(line, launch, [start])
    assert.deepEqual(await source.read(0, launch), pack.slice(0, launch))
  },

  async 'a changed segment of a larger piece is refused, and not asked for in vain again'() {
    const line = new Line(64 << 20, 5)
    const { pack, launch, source } = await offered(40, 32, line)
    pack[body + 20 * segmentSize + 7] ^= 1
    await assert.rejects(source.read(0, launch), error => error instanceof PackError && error.code === 'digest-mismatch')
    await assert.rejects(source.read(body + 20 * segmentSize, body + 21 * segmentSize), error => error.code === 'digest-mismatch')
    pack[body + 20 * segmentSize + 7] ^= 1
    assert.deepEqual(await source.read(0, launch), pack.slice(0, launch))
  },
}

for (const [title, test] of Object.entries(tests)) {
  await test().catch(error => {
    console.error(`${title}: ${error.stack}`)
    process.exitCode = 1
  })
}
console.log(`${Object.keys(tests).length} tests of requests`)
