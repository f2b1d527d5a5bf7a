// expect: cannot convert value of type 'CFData?' to expected argument type 'CFTypeRef?'
import Security

/// The Keychain returns objects of any type.
func read(_ query: CFDictionary) -> OSStatus {
  var found: CFData?
  return SecItemCopyMatching(query, &found)
}
