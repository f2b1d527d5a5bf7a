// The types of player.js, for pages that start games.

import type { PackSource, ResponseOptions } from './packer.js'

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
}

export interface Configuration { packs: Record<string, Game> }

export type InstalledGame = Omit<Game, 'key'> & { key: CryptoKey, identity: string }

/** The folder of the player, which is the scope of its worker. */
export const home: URL

/** The address of a game. */
export function addressOf(id: string): URL

/** Registers the worker and hands it the games. Without a network, those of the last time are returned, and the error as `warning`. */
export function begin(configuration: string | URL | Configuration): Promise<{ games: Record<string, InstalledGame>, warning?: Error }>

/** Has the worker open a game, and returns the address of its page. Throws what is wrong with the pack, its key or its server. */
export function start(id: string): Promise<URL>

/** Fetches what is missing of a game. Returns false if the browser has no room for all of it. */
export function keep(id: string, progress?: (kept: number, size: number) => void, signal?: AbortSignal): Promise<boolean>

/** The bytes of a pack as another source has them, of which ciphertext is kept in the browser up to a quota. */
export class KeptSource implements PackSource {
  constructor(source: PackSource, identity: string, options?: { size?: number, quota?: number })
  readonly name: string
  size(): Promise<number>
  read(start: number, end: number): Promise<Uint8Array>
  keepAll(progress?: (kept: number, size: number) => void): Promise<boolean>
  /** Forgets what is kept, and keeps nothing more. */
  forget(): Promise<void>
}
