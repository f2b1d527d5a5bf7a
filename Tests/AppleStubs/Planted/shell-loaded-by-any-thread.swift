// expect: main actor-isolated
// into: Examples/iOSApp/Shells

nonisolated func plantedStart(_ shell: PackedBridgeViewController) { shell.capacitorDidLoad() }
