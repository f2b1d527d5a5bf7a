// expect: main actor-isolated
// into: Examples/iOSApp/App

nonisolated func plantedChange(_ games: Games) { games.problem = nil }
