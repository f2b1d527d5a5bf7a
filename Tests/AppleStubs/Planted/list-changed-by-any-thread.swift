// expect: main actor-isolated
// into: Examples/iOSApp/App

import PackApp

nonisolated func plantedChange(_ packs: PublishedLibrary) { packs.problem = nil }
