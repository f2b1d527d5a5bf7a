// The types of player.js, for pages that start games.

import type { ByteRange, Lead, PackSource, ResponseOptions } from './packer.js'

/** A game of a configuration. */
export interface Game extends ResponseOptions {
  /** The address of the pack. Give every version an address of its own, or a `version`. */
  url: string
  /** The size of the pack in bytes. */
  size: number
  key: string | CryptoKey
  /** For people. */
  name?: string
  version?: string | number
  /** Whether all of it is fetched in the background while it is played. */
  offline?: boolean
  lead?: Lead
}

export interface Configuration { packs: Record<string, Game> }

export type InstalledGame = Omit<Game, 'key'> & { key: CryptoKey, identity: string }

/** The folder of the player, which is the scope of its worker. */
export const home: URL

/** The address of a game. */
export function addressOf(id: string): URL

/** What begins a player: packs, or a release. WEB.md explains it. */
export type Beginning = Configuration | { manifest: string, trust: string | string[], key?: string | CryptoKey, keys?: Record<string, string | CryptoKey>, games?: string[], at?: string }

/**
 * Registers the worker and hands it the games. Without a network, those of the last time are returned, and the error as `warning`. `additions` are what
 * is not in the configuration, such as the keys of a player.
 */
export function begin(configuration: string | URL | Promise<Response> | Beginning, additions?: Partial<Beginning>): Promise<{ games: Record<string, InstalledGame>, warning?: Error }>

/**
 * Has the worker open a game, and returns the address of its page. Throws what is wrong with the pack, its key or its server. A page in the folder of the
 * player may then fetch the files of the game, too.
 */
export function start(id: string): Promise<URL>

/** Fetches what is missing of a game. Returns false if the browser has no room for all of it. */
export function keep(id: string, progress?: (kept: number, size: number) => void, signal?: AbortSignal): Promise<boolean>

/** The bytes of a file of a game, or of a part of it. The digest is compared if it is the whole file. */
export function read(id: string, path: string, range?: ByteRange): Promise<Uint8Array>

/** The games, each with the number of its bytes that are kept in the browser. */
export function list(): Promise<Record<string, InstalledGame & { kept: number }>>

/** Forgets what is kept of a game, which is fetched again when it is played or kept. A page of it that is open may miss what it is reading. */
export function forget(id: string): Promise<void>

/** The bytes of a pack as another source has them, of which ciphertext is kept in the browser up to a quota. */
export class KeptSource implements PackSource {
  constructor(source: PackSource, identity: string, options?: { size?: number, quota?: number })
  readonly name: string
  size(): Promise<number>
  read(start: number, end: number): Promise<Uint8Array>
  keepAll(progress?: (kept: number, size: number) => void): Promise<boolean>
  /** What is needed of the lead of the pack, for the options of a `LeadSource`. */
  loadLead(): Promise<Uint8Array | undefined>
  keepLead(leaves: Uint8Array | undefined, edges: [place: number, bytes: Uint8Array][]): Promise<void>
  /** Forgets what is kept, and keeps nothing more. */
  forget(): Promise<void>
}
