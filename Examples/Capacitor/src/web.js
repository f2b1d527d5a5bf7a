import { CapacitorException, WebPlugin } from '@capacitor/core'

/** The player of packer, whose files are beside the page: they are in no bundle, because its worker needs an address of its own. */
const file = name => import(/* @vite-ignore */ /* webpackIgnore: true */ new URL(name, document.baseURI).href)

/** How often a listener hears of a download, in milliseconds. */
const pace = 100

/** Packs where there is no native side: kept as ciphertext by the player, and opened by its service worker. */
export class PacksWeb extends WebPlugin {
  #player
  #keys = {}
  /** The downloads that are going on: `stop`, `done` and `status`, by the id. */
  #running = new Map()
  #failures = new Map()
  /** The packs that can be read, as on iOS: those of an `ensure` of this page. */
  #usable = new Set()

  offers() {
    return this.#with(async (player, warning) => {
      const packs = Object.entries(await player.list()).map(([id, game]) => ({
        id, name: game.name || id, description: '', downloadSize: game.size - game.kept, installSize: game.size, status: this.#statusOf(id, game),
      }))
      return { packs, isComplete: !warning }
    })
  }

  status({ id }) {
    return this.#with(async player => this.#statusOf(id, (await player.list())[id]))
  }

  ensure({ id }) {
    return this.#with(player => {
      if (!this.#running.has(id)) {
        const run = { stop: new AbortController(), status: { id, state: 'waiting', reason: 'turn' } }
        this.#running.set(id, run)
        run.done = this.#fetch(player, id, run)
      }
      return this.#running.get(id).done
    })
  }

  async #fetch(player, id, run) {
    const { signal } = run.stop
    let last
    let told = 0
    try {
      // A wrong key is noticed before everything is fetched.
      await player.start(id)
      // Asks the user in some browsers, and nothing waits for the answer.
      navigator.storage?.persist?.().catch(() => {})
      const isKept = await player.keep(id, (received, size) => {
        run.status = { id, state: 'downloading', received, size }
        if (Date.now() - told < pace) return
        told = Date.now()
        this.notifyListeners('progress', run.status)
      }, signal)
      signal.throwIfAborted()
      if (!isKept) throw new CapacitorException(`the browser has no room for all of '${id}'`, 'no-space', { subject: id, advice: 'free-space' })
      this.#failures.delete(id)
      this.#usable.add(id)
      last = this.#settled(id, (await player.list())[id])
    } catch (error) {
      const failure = signal.aborted ? new CapacitorException(`the download of pack '${id}' was cancelled`, 'cancelled', { subject: id }) : exceptionOf(error)
      this.#failures.set(id, failure)
      last = failed(id, failure)
      throw failure
    } finally {
      this.#running.delete(id)
      this.notifyListeners('progress', last)
    }
  }

  url({ id, path = '' }) {
    return this.#with(player => {
      this.#check(id)
      return { url: player.addressOf(id).href + path.split('/').map(encodeURIComponent).join('/') }
    })
  }

  read({ id, path, start, end, encoding }) {
    return this.#with(async player => {
      this.#check(id)
      const range = start === undefined && end === undefined ? undefined : { start: start ?? 0, end }
      if (range && !(range.start >= 0 && range.start <= (end ?? range.start))) {
        throw new CapacitorException(`there are no bytes from ${range.start} to ${end} of '${path}'`, 'range-not-satisfiable')
      }
      const bytes = await player.read(id, path, range)
      return { data: encoding ? new TextDecoder().decode(bytes) : await base64(bytes) }
    })
  }

  cancel({ id }) {
    return this.#with(async () => {
      this.#running.get(id)?.stop.abort()
      await this.#running.get(id)?.done.catch(() => {})
    })
  }

  async remove({ id }) {
    await this.cancel({ id })
    return this.#with(async player => {
      await player.forget(id)
      this.#usable.delete(id)
      this.#failures.delete(id)
    })
  }

  /** There is one version in a browser, which is never rolled back. */
  async confirm() {}

  async addKey({ id, key }) {
    try {
      const { importKey } = await file('packer.js')
      if (id === undefined) this.#keys = { key: await importKey(key) }
      else {
        const keys = { ...this.#keys.keys, [id]: await importKey(key) }
        this.#keys = { keys, games: Object.keys(keys) }
      }
    } catch (error) { throw exceptionOf(error) }
    this.#player = undefined
  }

  /** Runs the work of a call with the player, and its warning if it has only the release of the last time. */
  async #with(work) {
    try {
      this.#player ??= this.#begin()
      const { player, warning } = await this.#player
      return await work(player, warning)
    } catch (error) { throw exceptionOf(error) }
  }

  async #begin() {
    try {
      const player = await file('player.js').catch(() => {
        throw new CapacitorException(`the files of the player are not beside ${document.baseURI} (hint: 'packer init --web' writes them)`, 'no-worker')
      })
      const { warning } = await player.begin(new URL('player.json', player.home), this.#keys)
      return { player, warning }
    } catch (error) {
      this.#player = undefined
      throw error
    }
  }

  #statusOf(id, game) {
    return this.#running.get(id)?.status ?? this.#settled(id, game)
  }

  /** The state of a pack that nobody fetches. */
  #settled(id, game) {
    const failure = this.#failures.get(id)
    if (game && game.kept >= game.size) return { id, state: 'ready', version: game.version }
    return failure ? failed(id, failure) : { id, state: 'absent' }
  }

  #check(id) {
    if (!this.#usable.has(id)) {
      throw new CapacitorException(`pack '${id}' was not made usable by this page (hint: call ensure first)`, 'not-installed', { subject: id, advice: 'install' })
    }
  }
}

const failed = (id, { code, message }) => ({ id, state: 'failed', error: { code, message } })

/** An error as Capacitor has it, with the codes of the native side. */
function exceptionOf(error) {
  if (error instanceof CapacitorException) return error
  const { code, message, subject, advice } = error
  const isOffline = code === 'cannot-read' && !navigator.onLine
  const known = { 'no-such-game': 'unknown-pack' }[code] ?? (typeof code === 'string' ? code : 'internal-error')
  return new CapacitorException(message, isOffline ? 'offline' : known, { subject, advice })
}

function base64(bytes) {
  return new Promise((done, fail) => {
    const reader = new FileReader()
    reader.onload = () => done(reader.result.split(',')[1] ?? '')
    reader.onerror = () => fail(reader.error)
    reader.readAsDataURL(new Blob([bytes]))
  })
}
