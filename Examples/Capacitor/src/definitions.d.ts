/// <reference types="@capacitor/cli" />

import type { PluginListenerHandle } from '@capacitor/core'

declare module '@capacitor/cli' {
  export interface PluginsConfig {
    /** For iOS, and packs with `hosting: unmanaged`. In a browser and on Android, `player.json` beside the page has the release. */
    Packs?: {
      /** The public keys that may sign the manifest, `pkp1-…`. */
      trust: string[]
      /** The address of the manifest. Not needed with `group`, if `packer plist merge` wrote it to Info.plist. */
      manifest?: string
      /**
       * The app group that the app shares with a downloader extension, with which the system downloads packs also before the first start. Without it,
       * downloads are the app's own. Give also `app: {bundleID, group}` in packer.yml, and after `packer build`:
       *
       * 1. `packer init --app pieces --package ../packer`.
       * 2. In Xcode, *File > New > Target > Background Download*, named `Downloader`, minimum iOS 16.4, with the product `PackBackground` of the checkout,
       *    its trait *Packing* turned off. Replace its Swift files and Info.plist with those in `pieces/Downloader`, and add
       *    `pieces/Shared/Publisher.swift`.
       * 3. `packer plist merge ios/App/App/Info.plist`. In *Signing & Capabilities* of both targets, add *App Groups* with this group.
       */
      group?: string
      /**
       * A key of the packs, `pkk1-…`, which is then in the app: Documentation/KEYS_IN_APPS.md of packer. In capacitor.config.ts it may be
       * `process.env.PACKER_KEY`: `npx cap sync` writes it into capacitor.config.json of the app, which Capacitor's .gitignore lists. Otherwise `addKey`.
       */
      key?: string
      /** Whether `ensure` confirms a new version. If false, `confirm` has to follow, or the version before is used again. By default true. */
      confirmsVersions?: boolean
      /** On iOS: the groups of this installation, such as `testers`, that rollouts name. */
      groups?: string[]
    }
  }
}

/**
 * Why a call is rejected. These are the codes to decide by; Documentation/TROUBLESHOOTING.md of packer has all.
 *
 * - `unknown-pack`: the release has no such pack for this device.
 * - `not-installed`: `url` or `read` without an `ensure` since the page was loaded; on iOS, since the app was started.
 * - `no-such-entry`, `range-not-satisfiable`: the pack has no such file, or the file no such bytes.
 * - `cancelled`: `cancel` or `remove` ended the download.
 * - `no-space`: there is no room for the pack.
 * - `offline`, `cannot-read`, `download-failed`: there is no network, or the server does not answer as it should.
 * - `no-key`, `no-usable-key`, `wrong-key`, `malformed-key`: the key is missing, of another pack, or has a typing error.
 * - `no-worker`, `unsupported`: the files of the player are not beside the page, or the page is neither at https nor at localhost.
 */
export interface PacksError extends Error {
  code: string
  data?: {
    /** The pack, file or address that it is about. */
    subject?: string
    /** What helps, as a stable word: `connect`, `free-space`, `try-again`. */
    advice?: string
    /** On iOS, a sentence for players in the language of the app. */
    text?: string
  }
}

/** The packs of the app. All promises are rejected with a `PacksError`, whose `message` is for developers. */
export interface PacksPlugin {
  /**
   * The packs of the release for this device. Fetches what is missing of the list. Without a network, it has what is known, and `isComplete` is false.
   */
  offers(): Promise<{ packs: Offer[], isComplete: boolean }>

  /**
   * Makes a pack usable: downloads it if no version of it is here. Resolves at once if it is.
   *
   * Rejected with `unknown-pack`, `cancelled`, `no-space`, `no-key`, or another code that trying again does not help. iOS waits for a network; in a
   * browser it is rejected with `offline`. What has arrived is kept for the next call.
   */
  ensure(options: { id: string }): Promise<void>

  /** The state of a pack. One that nobody knows is `absent`. */
  status(options: { id: string }): Promise<PackStatus>

  /**
   * The address of a file of a pack that `ensure` made usable, for pages, `fetch`, images, sounds and modules; without `path`, that of its `index.html`.
   *
   * `saved` is for a game that was in the app before, as a text: `JSON.stringify(localStorage)`. Its page gets the items on iOS, where it has an origin of
   * its own, once, before its own scripts run.
   */
  url(options: { id: string, path?: string, saved?: string }): Promise<{ url: string }>

  /**
   * The content of a file, or the bytes from `start` to before `end`: as a text with `encoding`, otherwise in Base64. For large files use `url`.
   *
   * On iOS, Capacitor logs the start of each answer in debug builds, unless capacitor.config has `loggingBehavior: 'none'`.
   */
  read(options: { id: string, path: string, start?: number, end?: number, encoding?: 'utf8' }): Promise<{ data: string }>

  /** Ends the download of a pack. Whoever waits for it gets `cancelled`. */
  cancel(options: { id: string }): Promise<void>

  /** Removes a pack from the device. */
  remove(options: { id: string }): Promise<void>

  /** Says that a version works: on iOS, with `confirmsVersions: false`. Elsewhere it does nothing. */
  confirm(options: { id: string }): Promise<void>

  /**
   * Adds a key that your server gave. iOS keeps it in the Keychain. Elsewhere, call it at each start, before the rest: with `id`, it is the key of that
   * pack, and only packs with a key are offered; without, of all.
   */
  addKey(options: { key: string, id?: string }): Promise<void>

  /** Calls `listener` with each change of a pack that an `ensure` waits for; the last one is `ready` or `failed`. */
  addListener(eventName: 'progress', listener: (status: PackStatus) => void): Promise<PluginListenerHandle>

  removeAllListeners(): Promise<void>
}

/** A pack of the release. */
export interface Offer {
  id: string
  /** For people, as `description`, which may be empty. */
  name: string
  description: string
  /** The bytes to download. */
  downloadSize: number
  /** The bytes that it takes on the device. */
  installSize: number
  status: PackStatus
}

/** The state of a pack on this device. */
export interface PackStatus {
  id: string
  state: 'absent' | 'waiting' | 'downloading' | 'installing' | 'sealed' | 'ready' | 'failed'
  /** Why it waits: for a network, for others that come first, for the next try, or for the user. */
  reason?: 'network' | 'turn' | 'retry' | 'consent'
  /** The bytes that have arrived, of `size`, while it is downloaded. */
  received?: number
  size?: number
  /** The time before which a sealed pack does not open, in milliseconds since 1970, if it is known. */
  opens?: number
  /** The version that can be read, if it is ready. */
  version?: number
  /** What comes of a newer version, if it is ready. */
  update?: 'waiting' | 'downloading' | 'installing' | 'installed' | 'sealed'
  /** Why it failed. */
  error?: { code: string, message: string }
}
