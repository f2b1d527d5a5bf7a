// Packs in programs that have a browser inside. Each adapter hands requests to `Pack.response`, as the player's service worker does.
//
// Capacitor on Android and other web views of Android are Chromium: there the player itself is the app's web folder, with its worker, and needs no adapter.

import { PackError } from './packer.js'

/**
 * Electron: answers `scheme://id/path` from the pack with that id.
 *
 *     protocol.registerSchemesAsPrivileged([{ scheme: 'pack', privileges: { standard: true, secure: true, supportFetchAPI: true, stream: true } }])
 *     const arcade = await openPack(await fileSource('arcade.pack'), key)
 *     app.whenReady().then(() => protocol.handle('pack', schemeHandler({ arcade })))
 *
 * @param packs the open packs by their ids, which are hosts: in lower case.
 */
export function schemeHandler(packs) {
  return async request => {
    const { hostname, pathname, search } = new URL(request.url)
    const pack = Object.hasOwn(packs, hostname) ? packs[hostname] : undefined
    if (!pack) return new Response(`There is no pack '${hostname}' here.\n`, { status: 404, headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
    return pack.response(request, pathname + search)
  }
}

/** Electron and Node: the bytes of a file, for `openPack`. */
export async function fileSource(path) {
  const file = await (await import('node:fs/promises')).open(path)
  return {
    name: String(path),
    size: async () => (await file.stat()).size,
    read: async (start, end) => {
      const { bytesRead, buffer } = await file.read(new Uint8Array(end - start), 0, end - start, start)
      if (bytesRead === end - start) return buffer
      throw new PackError({ code: 'cannot-read', message: `${path} ends at byte ${start + bytesRead}`, subject: String(path), hint: 'open the pack again' })
    },
    close: () => file.close(),
  }
}
