// The types of packer.js.

/** What is wrong with a pack, a key, a manifest or a server. `code` is stable; `message` and `hint` are for people. */
export class PackError extends Error {
  constructor(facts: { code: string, message: string, subject?: string, advice?: string, hint?: string }, options?: ErrorOptions)
  readonly name: 'PackError'
  readonly code: string
  /** The pack, file or address that it is about. */
  readonly subject?: string
  /** What could be done about it, as a stable word: `fetch-again`, `choose-entry`. */
  readonly advice?: string
  readonly hint?: string
}

/** Loads packer.wasm from elsewhere than beside this file. Everything else calls it by itself. */
export function loadPacker(wasm?: string | URL | BufferSource | WebAssembly.Module | Promise<BufferSource | WebAssembly.Module>): Promise<unknown>

/** Makes a key that can be used and not be read back, of the text of a pack key (`pkk1-…`) or of a recipient's secret key (`pkx1-…`). */
export function importKey(text: string): Promise<CryptoKey>

/** Where the bytes of a pack come from. */
export interface PackSource {
  /** For messages. */
  readonly name: string
  size(): Promise<number>
  /** The bytes from `start` to before `end`, all of them. */
  read(start: number, end: number): Promise<Uint8Array>
}

export interface RequestOptions {
  /** The size of the pack in bytes, if it is known. */
  size?: number
  fetch?: (url: string, options: RequestInit) => Promise<Response>
  signal?: AbortSignal
}

/** The bytes of an address, whose server answers ranges. */
export class HTTPSource implements PackSource {
  constructor(url: string | URL, options?: RequestOptions)
  readonly name: string
  size(): Promise<number>
  read(start: number, end: number): Promise<Uint8Array>
}

/** The lead of a pack, which is fetched before all else. */
export interface Lead {
  readonly url: string
  readonly size: number
  /** In hexadecimal. */
  readonly sha256: string
  /** The digest of the digests in it, in hexadecimal. */
  readonly leaves: string
  /** The bytes of the pack before `launch` and from `tail` on are in it. */
  readonly launch: number
  readonly tail: number
}

/** The bytes of a pack with a lead: every segment is compared with its digest before it counts. `Release.openPack` takes it by itself. */
export class LeadSource implements PackSource {
  /** @param options `load` and `keep` read and store what is needed of the lead, and the bytes of the pack that it has. */
  constructor(source: PackSource, size: number, lead: Lead, options?: Omit<RequestOptions, 'size'> & {
    load?: () => Promise<Uint8Array | undefined>
    keep?: (leaves: Uint8Array | undefined, edges: [place: number, bytes: Uint8Array][]) => Promise<void>
  })
  readonly name: string
  readonly tail: number
  size(): Promise<number>
  read(start: number, end: number): Promise<Uint8Array>
}

/** Opens a pack: an address whose server answers ranges, a `Blob`, or another source. */
export function openPack(source: string | URL | Blob | PackSource, key: string | CryptoKey, options?: RequestOptions): Promise<Pack>

export interface Entry {
  readonly path: string
  readonly kind: 'file' | 'directory'
  readonly size: number
  /** In hexadecimal; only of a file. */
  readonly sha256?: string
}

export interface ByteRange { start: number, end: number }

/** What responses have besides the file. */
export interface ResponseOptions {
  /** The name of the index of a directory. By default `index.html`. */
  index?: string
  /** The page for paths without an extension at which nothing is. */
  fallback?: string
  /** Whether pages are isolated, which `SharedArrayBuffer` needs. */
  isolated?: boolean
  /** `Content-Security-Policy` */
  policy?: string
  /** `Cache-Control`. By default `no-cache`. */
  cache?: string
  /** The other origins whose pages may read. */
  origins?: string[]
}

/** An open pack, made by `openPack`. */
export class Pack {
  private constructor()
  /** The size of the pack, and that of all files together, in bytes. */
  readonly size: number
  readonly contentSize: number
  readonly entryCount: number
  readonly version: number
  /** In hexadecimal, as everything below. */
  readonly contentRoot: string
  readonly packID: string
  readonly keyID: string
  readonly recipientIDs: readonly string[]
  /** Closes the pack, and overwrites what is in memory of it. */
  close(): void
  entries(): Promise<Entry[]>
  /** The bytes of a file or of a part of it. The digest is compared if it is the whole file. */
  read(path: string, range?: ByteRange): Promise<Uint8Array>
  /** The same in pieces. The digest of a whole file is compared if it has at most 8 MiB. */
  stream(path: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>>
  configure(options: ResponseOptions): Promise<void>
  /** Answers a request with a file of the pack, as `packer serve` does. `target` is the address below the pack, if it is not that of the request. */
  response(request: Request, target?: string, options?: { isWhole?: boolean, ended?: (error?: unknown) => void }): Promise<Response>
  /** Checks every tag, every frame and every digest. `progress` is called with the bytes of content that are done. */
  check(progress?: (done: number) => void): Promise<void>
}
