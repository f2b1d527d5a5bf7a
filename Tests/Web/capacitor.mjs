// Stands in for `@capacitor/core` in the tests of Examples/Capacitor: what Capacitor documents of plugins with an implementation for the web, and that its
// first calls, made at once, each load an implementation.

const platform = globalThis.androidBridge ? 'android' : 'web'

export class CapacitorException extends Error {
  constructor(message, code, data) {
    super(message)
    Object.assign(this, { code, data })
  }
}

export class WebPlugin {
  listeners = {}

  async addListener(name, listener) {
    (this.listeners[name] ??= []).push(listener)
    return { remove: async () => this.listeners[name].splice(this.listeners[name].indexOf(listener), 1) }
  }

  async removeAllListeners() { this.listeners = {} }
  notifyListeners(name, data) { for (const listener of this.listeners[name] ?? []) listener(data) }
}

export function registerPlugin(name, implementations) {
  let implementation
  const call = method => async (...values) => {
    if (!implementation && platform in implementations) implementation = await implementations[platform]()
    if (!implementation?.[method]) throw new CapacitorException(`"${name}.${method}()" is not implemented on ${platform}`, 'UNIMPLEMENTED')
    return implementation[method](...values)
  }
  return new Proxy({}, { get: (_, method) => method === 'then' ? undefined : call(method) })
}
