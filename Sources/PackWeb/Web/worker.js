// The service worker of the player: answers every request below `games/<id>/` from the pack of that game, and keeps the player itself for times without
// a network. Everything else goes to the network.

import { loadPacker, openPack, PackError } from './packer.js'
import { addressOf, checkContent, gameIn, home, missing, releases, sourceOf, takeNext } from './player.js'

/** What identifies these files. The build writes it, so that the browser notices when one of them changed. */
const build = 'development'
const shellName = `packer-shell-${build}`
/** The files of the player, with the digests that they have in this build. */
const shell = { 'player.js': '', 'packer.js': '', 'packer.wasm': '' }
const gamesPath = `${home.pathname}games/`

addEventListener('install', event => {
  skipWaiting()
  event.waitUntil((async () => {
    keepPage().catch(() => {})
    const cache = await caches.open(shellName)
    const requests = options => Object.entries(shell).map(([name, digest]) => new Request(new URL(name, home), options(digest)))
    // The page has fetched them a moment ago, so if those in the browser's cache are of this build, nothing has to come over the line.
    const known = cache.addAll(requests(integrity => ({ cache: 'force-cache', integrity })))
    await known.catch(() => cache.addAll(requests(() => ({ cache: 'no-cache' }))))
    loadShell()
  })())
})

addEventListener('activate', event => {
  event.waitUntil((async () => {
    await clients.claim()
    await keepPage().catch(() => {})
    const cache = await caches.open(shellName)
    // Otherwise it is that of the last build.
    const last = await cache.match(home) ? undefined : await caches.match(home)
    if (last) await cache.put(home, last)
    for (const name of await caches.keys()) if (name.startsWith('packer-shell-') && name !== shellName) await caches.delete(name)
  })())
})

addEventListener('fetch', event => {
  const { request } = event
  const url = new URL(request.url)
  if (url.origin !== home.origin) return
  if (url.pathname.startsWith(gamesPath)) return event.respondWith(play(event, url))
  if (request.method !== 'GET' || !url.pathname.startsWith(home.pathname)) return
  const name = url.pathname.slice(home.pathname.length)
  if (name === '' || name === 'index.html') event.respondWith(freshPage(request))
  else if (Object.hasOwn(shell, name)) event.respondWith(shellFile(name))
})

addEventListener('message', event => {
  const port = event.ports[0]
  event.waitUntil(answer(event.data).then(
    value => port.postMessage({ value }, value ? [value.buffer] : []), error => port.postMessage({ error: factsOf(error) })))
})

/** What a page of the player asks: to `start` a game, to `read` a file of one, or to `forget` what is kept of one. */
async function answer({ start, read, forget, path, range }) {
  if (forget !== undefined) return forgetGame(forget)
  if (start !== undefined) await takeIfIdle()
  const id = start ?? read
  const game = await gameOf(id)
  const opened = openedPack(id, game)
  const pack = await opened.opening
  // Also a page that was there before the worker, or was loaded past it.
  if (start !== undefined) return clients.claim()
  return pack.read(path, range).catch(error => {
    close(game, opened, error)
    throw error
  })
}

async function forgetGame(id) {
  const { current, next } = await releases()
  for (const game of [gameIn(current, id), gameIn(next, id)]) {
    if (!game) continue
    const { opening, source } = packs.get(game.identity) ?? { source: sourceOf(game) }
    packs.delete(game.identity)
    opening?.then(pack => pack.close(), () => {})
    await source.forget()
  }
}

// The player itself

let page

/** Has the first page kept, for which the installation does not wait. */
function keepPage() { return page ??= freshPage(new Request(home, { cache: 'no-cache' })) }

async function shellFile(name) {
  const url = new URL(name, home)
  return await (await caches.open(shellName)).match(url) ?? fetch(url)
}

/** The page as it is at the server, so that a changed one is seen at once, or else the one that is kept. */
async function freshPage(request) {
  const coming = fetch(request)
  coming.catch(() => {})
  const cache = await caches.open(shellName)
  try {
    const response = await coming
    // A browser takes no redirected page from a worker.
    if (response.ok && !response.redirected) await cache.put(home, response.clone())
    return response
  } catch (error) {
    return await cache.match(home) ?? Promise.reject(error)
  }
}

/** Loads packer.wasm out of the player. Whoever needs it learns of a failure. */
function loadShell() {
  loadPacker(shellFile('packer.wasm').then(response => response.arrayBuffer())).catch(() => {})
}

// Games

/**
 * Whether a page notices that a worker ended while it sent a body. In Firefox (153), the body ends there as if that were all of it. So only media are
 * sent in pieces there, whose elements know their length and ask for the rest. Everything else is sent when it is there as a whole.
 */
const noticesCut = /\bChrome\//.test(navigator.userAgent)
/** Firefox ends a worker a minute after its last event. What is there later than this could be cut. */
const longestAnswer = 50_000
let lastEvent = 0

/** The release that is being played, and the packs of it that are open or being opened. */
let current
const packs = new Map()
/** Pages that were answered a moment ago, by the number of the client: the browser does not list them at once. */
const coming = new Map()
const comingTime = 1000

/** Takes the next release, if no page of a game is open. A release is taken as a whole, and no page sees two. */
async function takeIfIdle() {
  for (const [id, time] of coming) if (Date.now() - time > comingTime) coming.delete(id)
  const all = await clients.matchAll({ includeUncontrolled: true, type: 'all' })
  if (coming.size > 0 || all.some(client => client.url.startsWith(home.origin + gamesPath))) return
  if (!(await releases()).next) return
  await takeNext()
  current = undefined
  for (const { opening } of packs.values()) opening.then(pack => pack.close(), () => {})
  packs.clear()
}

async function gameOf(id) {
  current ??= releases().then(({ current }) => current, error => {
    current = undefined
    throw error
  })
  const game = gameIn(await current, id)
  if (game) return game
  if (gameIn((await releases()).next, id)) {
    throw new PackError({ code: 'busy', message: `'${id}' comes with a new version`, hint: 'close the pages of other games first' })
  }
  throw missing(id)
}

async function play(event, url) {
  const { request } = event
  lastEvent = Date.now()
  const isPage = request.mode === 'navigate' && request.destination === 'document'
  const [name] = url.pathname.slice(gamesPath.length).split('/', 1)
  const target = url.pathname.slice(gamesPath.length + name.length) + url.search
  // The browser may end a worker that has answered, but not while it sends a body.
  let end
  event.waitUntil(new Promise(done => { end = done }))
  let id = name
  let game
  let opened
  try {
    id = decodeURIComponent(name)
    // A page that asks is listed.
    coming.delete(event.clientId)
    if (isPage) await takeIfIdle()
    game = await gameOf(id)
    if (!target.startsWith('/')) return end(), Response.redirect(addressOf(id).href + url.search)
    opened = openedPack(id, game)
    const pack = await opened.opening
    if (isPage) {
      coming.set(event.resultingClientId, Date.now())
      if (game.offline) event.waitUntil(sourceOf(game).keepAll().catch(() => {}))
    }
    const ended = error => {
      end()
      if (error) close(game, opened, error)
    }
    const isWhole = !noticesCut && !['audio', 'video'].includes(request.destination)
    const response = await pack.response(request, target, { isWhole, ended })
    if (isWhole && Date.now() - lastEvent > longestAnswer) {
      throw new PackError({ code: 'cannot-read', message: `${target} took too long to arrive`, hint: 'try again: what came is kept' })
    }
    if (response.body === null) end()
    return response.status === 404 ? absent(response, request, id, target) : response
  } catch (error) {
    end()
    // The page knows where the games are.
    if (isPage && error.code === 'no-such-game') return Response.redirect(new URL(`./?game=${encodeURIComponent(id)}`, home))
    close(game, opened, error)
    return failure(error, isPage)
  }
}

/** The pack of a game, which stays open until the worker ends, and its source. */
function openedPack(id, game) {
  let opened = packs.get(game.identity)
  if (!opened) {
    const source = sourceOf(game)
    opened = { source, opening: open(id, game, source) }
    packs.set(game.identity, opened)
    opened.opening.catch(error => close(game, opened, error))
  }
  return opened
}

async function open(id, game, source) {
  loadShell()
  await forgetting
  const pack = await openPack(source, game.key)
  if (game.contentRoot) await pack.matchRoot(game.contentRoot)
  await checkContent(id, game, pack)
  // What was decrypted is not for the browser's own caches.
  await pack.configure({ cache: 'no-store', ...game })
  return pack
}

/**
 * Closes a pack whose bytes are wrong, and forgets them, so that the next request fetches them again. An open one survives a fault of its server, and a
 * question for what it does not have.
 */
function close(game, opened, error) {
  console.error(error)
  if (packs.get(game?.identity) !== opened || !opened) return
  const isServer = ['cannot-read', 'usage', 'no-such-entry', 'range-not-satisfiable'].includes(error.code) || !(error instanceof PackError)
  opened.opening.then(pack => {
    if (isServer) return
    pack.close()
    packs.delete(game.identity)
  }, () => packs.delete(game.identity))
  if (!isServer) forgetting = Promise.all([forgetting, opened.source.forget()])
}

let forgetting

// What is said

/** The answer for a path at which nothing is, as `packer serve` gives it. */
function absent(response, request, id, target) {
  let path = target.replace(/[?#].*/, '').replace(/^\/+/, '')
  try { path = decodeURIComponent(path) } catch { /* It is shown as it is. */ }
  if (path === '' || path.endsWith('/')) path += 'index.html'
  const headers = new Headers(response.headers)
  headers.delete('Content-Length')
  headers.set('Content-Type', 'text/plain; charset=utf-8')
  return new Response(request.method === 'HEAD' ? null : `There is no file '${path}' in pack '${id}'.\n`, { status: 404, headers })
}

/** Says what went wrong: to a person on a page, to a program as a text. */
function failure(error, isPage) {
  const status = error.code === 'no-such-game' ? 404 : error.code === 'cannot-read' || error.code === 'source-changed' ? 502 : 500
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', 'Content-Type': 'text/plain; charset=utf-8' }
  if (!isPage) return new Response(`${error.message}\n`, { status, headers })
  headers['Content-Type'] = 'text/html; charset=utf-8'
  const text = error.message.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
  return new Response(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The game cannot be played</title>
<h1>The game cannot be played</h1>
<p>${text}</p>
<p><a href="">Try again</a>, or <a href="${home.pathname}">go to the first page</a>.</p>
`, { status, headers })
}

const factsOf = ({ code = 'internal-error', message, subject, advice }) => ({ code, message, subject, advice })
