// expect: cannot find 'FakeSystem' in scope
import BackgroundAssets

func look() {
  _ = FakeSystem.shared
}
