// The service worker of the player: answers every request below `games/<id>/` from the pack of that game, and keeps the player itself for times without
// a network. Everything else goes to the network.

import { loadPacker, openPack, PackError } from './packer.js'
import { addressOf, checkContent, home, missing, releases, sourceOf, takeNext } from './player.js'

/** What identifies these files. The build writes it, so that the browser notices when one of them changed. */
const build = 'development'
const shellName = `packer-shell-${build}`
const shell = ['index.html', 'player.js', 'packer.js', 'packer.wasm']
const gamesPath = `${home.pathname}games/`

addEventListener('install', event => {
  skipWaiting()
  event.waitUntil((async () => {
    const cache = await caches.open(shellName)
    await cache.addAll(shell.map(name => new Request(new URL(name, home), { cache: 'no-cache' })))
  })())
})

addEventListener('activate', event => {
  event.waitUntil((async () => {
    await clients.claim()
    for (const name of await caches.keys()) if (name.startsWith('packer-shell-') && name !== shellName) await caches.delete(name)
  })())
})

addEventListener('fetch', event => {
  const { request } = event
  const url = new URL(request.url)
  if (url.origin !== home.origin) return
  if (url.pathname.startsWith(gamesPath)) return event.respondWith(play(event, url))
  const name = url.pathname.slice(home.pathname.length) || 'index.html'
  if (request.method !== 'GET' || !url.pathname.startsWith(home.pathname) || !shell.includes(name)) return
  event.respondWith(name === 'index.html' ? freshPage(request) : shellFile(name))
})

addEventListener('message', event => {
  const { start: id } = event.data
  const port = event.ports[0]
  event.waitUntil((async () => {
    try {
      await takeIfIdle()
      await opened(id, await gameOf(id))
      port.postMessage({})
    } catch (error) {
      port.postMessage({ error: factsOf(error) })
    }
  })())
})

// The player itself

async function shellFile(name) {
  const url = new URL(name, home)
  return await (await caches.open(shellName)).match(url) ?? fetch(url)
}

/** The page as it is at the server, so that a changed one is seen at once, or else the one that is kept. */
async function freshPage(request) {
  const cache = await caches.open(shellName)
  try {
    const response = await fetch(request)
    if (response.ok && !response.redirected) await cache.put(new URL('index.html', home), response.clone())
    return response
  } catch (error) {
    return await cache.match(new URL('index.html', home)) ?? Promise.reject(error)
  }
}

// Games

/** The release that is being played, and the open packs of it. */
let current
const packs = new Map()
/** When a page of a game was last asked for, which the browser does not list at once. */
let lastPage = 0
const pageTime = 3000

/** Takes the next release, if no page of a game is open. A release is taken as a whole, and no page sees two. */
async function takeIfIdle() {
  const all = await clients.matchAll({ includeUncontrolled: true, type: 'all' })
  if (Date.now() - lastPage < pageTime || all.some(client => client.url.startsWith(home.origin + gamesPath))) return
  if (!(await releases()).next) return
  await takeNext()
  current = undefined
  for (const pack of packs.values()) pack.then(pack => pack.close(), () => {})
  packs.clear()
}

async function gameOf(id) {
  current ??= releases().then(({ current }) => current, error => {
    current = undefined
    throw error
  })
  const game = (await current)?.games[id]
  if (game) return game
  if ((await releases()).next?.games[id]) {
    throw new PackError({ code: 'busy', message: `'${id}' comes with a new version`, hint: 'close the pages of other games first' })
  }
  throw missing(id)
}

async function play(event, url) {
  const { request } = event
  const isPage = request.mode === 'navigate' && request.destination === 'document'
  const [name] = url.pathname.slice(gamesPath.length).split('/', 1)
  const target = url.pathname.slice(gamesPath.length + name.length) + url.search
  // The browser may end a worker that has answered, but not while it sends a body.
  let end
  event.waitUntil(new Promise(done => { end = done }))
  let id = name
  let game
  try {
    id = decodeURIComponent(name)
    if (isPage) await takeIfIdle()
    game = await gameOf(id)
    if (!target.startsWith('/')) return end(), Response.redirect(addressOf(id).href + url.search)
    const pack = await opened(id, game)
    if (isPage) {
      lastPage = Date.now()
      if (game.offline) event.waitUntil(sourceOf(game).keepAll().catch(() => {}))
    }
    const response = await pack.response(request, target, error => {
      end()
      if (error) close(game, error)
    })
    if (response.body === null) end()
    return response.status === 404 ? absent(response, request, id, target) : response
  } catch (error) {
    end()
    // The page knows where the games are.
    if (isPage && error.code === 'no-such-game') return Response.redirect(new URL(`./?game=${encodeURIComponent(id)}`, home))
    if (game) close(game, error)
    return failure(error, isPage)
  }
}

/** The pack of a game, which stays open until the worker ends. */
function opened(id, game) {
  let pack = packs.get(game.identity)
  if (!pack) {
    pack = open(id, game)
    packs.set(game.identity, pack)
    pack.catch(() => packs.delete(game.identity))
  }
  return pack
}

async function open(id, game) {
  await loadPacker(await (await shellFile('packer.wasm')).arrayBuffer())
  const source = sourceOf(game)
  try {
    const pack = await openPack(source, game.key)
    if (game.contentRoot) await pack.matchRoot(game.contentRoot)
    await checkContent(id, game, pack)
    // What was decrypted is not for the browser's own caches.
    await pack.configure({ cache: 'no-store', ...game })
    return pack
  } catch (error) {
    if (error.code !== 'cannot-read') await source.forget()
    throw error
  }
}

/** Closes a pack whose bytes are wrong, and forgets them, so that the next request fetches them again. */
function close(game, error) {
  console.error(error)
  if (!(error instanceof PackError) || error.code === 'cannot-read') return
  packs.get(game.identity)?.then(pack => {
    packs.delete(game.identity)
    pack.close()
    return sourceOf(game).forget()
  }).catch(() => {})
}

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

const factsOf = ({ code = 'internal-error', message, subject }) => ({ code, message, subject })
