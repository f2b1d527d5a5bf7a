// expect: thrown expression type 'BAErrorCode' does not conform to 'Error'
import BackgroundAssets

/// What the system throws are errors with a domain and a number; its enumeration of codes is none.
func refuse() throws {
  throw BAErrorCode.downloadDoesNotExist
}
