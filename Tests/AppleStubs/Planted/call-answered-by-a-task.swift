// expect: capture of 'call' with non-Sendable type 'CAPPluginCall'
// into: Examples/Capacitor

import Capacitor

func plantedWork(_ call: CAPPluginCall) -> @Sendable () async -> Void {
  { call.resolve() }
}
