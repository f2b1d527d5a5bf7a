// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// SecBase.h and SecItem.h, with a Keychain in memory: developer.apple.com/documentation/security/keychain_services. Without an attribute: iOS 4 and
// macOS 10.9 or older.

@_exported import CoreFoundation

public let kSecClass: CFString = stubString("class")
public let kSecClassGenericPassword: CFString = stubString("genp")
public let kSecAttrService: CFString = stubString("svce")
public let kSecAttrAccount: CFString = stubString("acct")
public let kSecAttrAccessGroup: CFString = stubString("agrp")
public let kSecAttrAccessible: CFString = stubString("pdmn")
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = stubString("cku")
@available(macOS 10.15, iOS 13, watchOS 6, tvOS 13, *)
public let kSecUseDataProtectionKeychain: CFString = stubString("nleg")
public let kSecReturnData: CFString = stubString("r_Data")
public let kSecMatchLimit: CFString = stubString("m_Limit")
public let kSecMatchLimitOne: CFString = stubString("m_LimitOne")
public let kSecValueData: CFString = stubString("v_Data")

public var errSecSuccess: OSStatus { 0 }
public var errSecUnimplemented: OSStatus { -4 }
public var errSecParam: OSStatus { -50 }
public var errSecAllocate: OSStatus { -108 }
public var errSecDuplicateItem: OSStatus { -25299 }
public var errSecItemNotFound: OSStatus { -25300 }

nonisolated(unsafe) private var items: [[UInt8]: [UInt8]] = [:]

private func name(_ query: CFDictionary) -> [UInt8] {
  precondition(stubValue(query, kSecClass) === kSecClassGenericPassword)
  return [kSecAttrService, kSecAttrAccount, kSecAttrAccessGroup].flatMap { stubBytes(stubValue(query, $0)) + [0] }
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  guard items[name(attributes)] == nil else { return errSecDuplicateItem }
  items[name(attributes)] = stubBytes(stubValue(attributes, kSecValueData))
  return errSecSuccess
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  guard let value = items[name(query)] else { return errSecItemNotFound }
  result?.pointee = stubData(value)
  return errSecSuccess
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  items.removeValue(forKey: name(query)) == nil ? errSecItemNotFound : errSecSuccess
}
