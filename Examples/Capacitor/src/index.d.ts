import type { PacksPlugin } from './definitions'

export * from './definitions'

/** The packs of the app. */
export declare const Packs: PacksPlugin
