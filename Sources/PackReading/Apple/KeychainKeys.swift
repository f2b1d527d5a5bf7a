import PackWork

#if canImport(Security)
  import CoreFoundation
  import Security

  /// Keys that lie in the Keychain as generic passwords: one item per key, whose account is the key's id and whose value is the key's 32 bytes.
  ///
  /// Items are made for this device alone: they are in no backup. They can be read from the first unlock after a start on, so that a downloader
  /// extension can open packs in the background. What the Keychain hands over is memory of the system's, which wipes it or not; the key made of it
  /// is wiped like every other.
  public struct KeychainKeys: KeyProvider {
    private let service: String
    private let accessGroup: String?
    private let roots: [KeyID]

    /// The keys of one service.
    ///
    /// - Parameters:
    ///   - service: what the items are filed under, such as `com.example.arcade.packs`.
    ///   - accessGroup: the Keychain group that app and extension share; the app's own where it is nil.
    ///   - roots: the ids of keys that are tried as root keys for packs whose own key is not there (FORMAT.md §2.3).
    public init(service: String, accessGroup: String? = nil, roots: [KeyID] = []) {
      self.service = service
      self.accessGroup = accessGroup
      self.roots = roots
    }

    /// The key with the wanted id, or the one that a root key makes for the pack.
    ///
    /// Asks on a thread of its own: the Keychain answers through another process.
    ///
    /// - Throws: ``PackError/Code/noKey`` where there is none, or where the Keychain refuses, with its status.
    public func key(for request: KeyRequest) async throws(PackError) -> PackKey {
      let found = try await WorkerPool.value { (_) throws(PackError) -> KeyRing in
        let ring = KeyRing()
        for id in [request.keyID] + roots where ring.keyIDs.first != request.keyID {
          if let key = try read(id) { ring.add(key) }
        }
        return ring
      }
      return try found.key(for: request)
    }

    /// Adds a key. One that is there already stays as it is: its id is made from it. The caller's key remains with the caller.
    ///
    /// Blocks its thread while the Keychain works.
    ///
    /// - Throws: ``PackError/Code/cannotWrite`` where the Keychain refuses, with its status.
    public func add(_ key: borrowing PackKey) throws(PackError) {
      let status = key.secret.withSpan { bytes in
        unsafe bytes.withUnsafeBufferPointer { bytes -> OSStatus in
          // Only lent, so that no copy of ours is left in memory that nobody wipes.
          guard let value = unsafe CFDataCreateWithBytesNoCopy(nil, bytes.baseAddress, bytes.count, kCFAllocatorNull) else {
            return errSecAllocate
          }
          return SecItemAdd(
            query(
              key.id,
              and: [(kSecAttrAccessible, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly), (kSecValueData, value)]), nil)
        }
      }
      guard status == errSecSuccess || status == errSecDuplicateItem else {
        throw PackError(.cannotWrite, "the Keychain does not take key \(key.id): status \(status)")
      }
    }

    /// Removes a key, where it is there.
    ///
    /// Blocks its thread while the Keychain works.
    ///
    /// - Throws: ``PackError/Code/cannotWrite`` where the Keychain refuses, with its status.
    public func remove(_ id: KeyID) throws(PackError) {
      let status = SecItemDelete(query(id))
      guard status == errSecSuccess || status == errSecItemNotFound else {
        throw PackError(.cannotWrite, "the Keychain does not remove key \(id): status \(status)")
      }
    }

    private func read(_ id: KeyID) throws(PackError) -> PackKey? {
      var found: CFTypeRef?
      let status = unsafe SecItemCopyMatching(
        query(id, and: [(kSecReturnData, kCFBooleanTrue), (kSecMatchLimit, kSecMatchLimitOne)]), &found)
      guard status != errSecItemNotFound else { return nil }
      guard status == errSecSuccess, let found, CFGetTypeID(found) == CFDataGetTypeID() else {
        throw PackError(.noKey, "the Keychain does not give key \(id): status \(status)")
      }
      let data = found as! CFData
      let key = try unsafe PackKey(bytes: Span(_unsafeStart: CFDataGetBytePtr(data), count: CFDataGetLength(data)))
      // The bytes were read while the object that holds them was there.
      withExtendedLifetime(data) {}
      return key
    }

    /// What names an item, and what else is to be said of it.
    private func query(_ id: KeyID, and attributes: [(CFString, CFTypeRef?)] = []) -> CFDictionary {
      var all: [(CFString, CFTypeRef?)] = [
        (kSecClass, kSecClassGenericPassword), (kSecAttrService, Self.text(service)), (kSecAttrAccount, Self.text(id.description)),
        // On a Mac too, where the older kind of Keychain would ask the player.
        (kSecUseDataProtectionKeychain, kCFBooleanTrue),
      ]
      if let accessGroup { all.append((kSecAttrAccessGroup, Self.text(accessGroup))) }
      all += attributes
      var keys: [UnsafeRawPointer?] = unsafe all.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0.0).toOpaque()) }
      var values: [UnsafeRawPointer?] = unsafe all.map { item in
        unsafe item.1.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
      }
      var (keyCalls, valueCalls) = unsafe (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
      // The dictionary keeps what is in it; until it is made, `all` does.
      return withExtendedLifetime(all) {
        unsafe CFDictionaryCreate(nil, &keys, &values, all.count, &keyCalls, &valueCalls)
      }
    }

    private static func text(_ text: String) -> CFString {
      let bytes = Array(text.utf8)
      return unsafe CFStringCreateWithBytes(nil, bytes, bytes.count, CFStringBuiltInEncodings.UTF8.rawValue, false)
    }
  }
#endif
