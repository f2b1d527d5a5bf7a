// expect: thrown expression type 'BAErrorCode' does not conform to 'Error'
import BackgroundAssets

/// The system throws NSError values with a domain and a number. Its enumeration of codes is not an error type.
func refuse() throws {
  throw BAErrorCode.downloadDoesNotExist
}
