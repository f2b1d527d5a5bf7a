// Without a bundler, copy this folder to `www/capacitor-packs`, and `node_modules/@capacitor/core/dist/index.js` to `www/capacitor-core.js`. The page has:
//
//     <script type="importmap">
//       { "imports": { "@capacitor/core": "./capacitor-core.js", "capacitor-packs": "./capacitor-packs/index.js" } }
//     </script>
//     <script type="module">import { Packs } from 'capacitor-packs'</script>

import { registerPlugin } from '@capacitor/core'

let loading
// Once: Capacitor would make an implementation for each of the first calls, and the listeners of one do not hear the others.
const load = () => (loading ??= import('./web.js').then(({ PacksWeb }) => new PacksWeb()))

/** The packs of the app. Android has no native side: there the player of the web is in the app. */
export const Packs = registerPlugin('Packs', { web: load, android: load })
