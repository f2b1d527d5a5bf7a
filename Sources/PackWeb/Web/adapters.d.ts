// The types of adapters.js.

import type { Pack, PackSource } from './packer.js'

/** Electron: the handler for `protocol.handle`, which answers `scheme://id/path` from the pack with that id. */
export function schemeHandler(packs: Record<string, Pack>): (request: Request) => Promise<Response>

/** Electron and Node: the bytes of a file. */
export function fileSource(path: string): Promise<PackSource & { close(): Promise<void> }>
