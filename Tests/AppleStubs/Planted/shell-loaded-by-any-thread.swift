// expect: main actor-isolated
// into: Examples/Capacitor

nonisolated func plantedStart(_ shell: PacksViewController) { shell.capacitorDidLoad() }
