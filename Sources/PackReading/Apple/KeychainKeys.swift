#if canImport(Security)
  import CoreFoundation
  import Security

  /// Keys stored in the Keychain as generic passwords. Each key is one item: the account is the key's id, the value is the key's 32 bytes.
  ///
  /// Items are stored for this device only and are not in backups. They can be read after the first unlock following a restart, so that a downloader
  /// extension can open packs in the background. The Keychain returns a key in memory that belongs to the system, which may not wipe it. The
  /// ``PackKey`` made from it is wiped like any other.
  public struct KeychainKeys: KeyProvider {
    private let service: String
    private let accessGroup: String?
    private let roots: [KeyID]

    /// Creates a provider for the keys of one service.
    ///
    /// - Parameters:
    ///   - service: the service name of the items, such as `com.example.arcade.packs`.
    ///   - accessGroup: the Keychain group that app and extension share; the app's default group if nil.
    ///   - roots: the ids of keys to try as root keys for a pack whose own key is not in the Keychain (FORMAT.md §2.3).
    public init(service: String, accessGroup: String? = nil, roots: [KeyID] = []) {
      self.service = service
      self.accessGroup = accessGroup
      self.roots = roots
    }

    /// Returns the key with the requested id, or the key that is derived for the pack from one of the root keys.
    ///
    /// Reads on a thread of its own, because the Keychain runs in another process.
    ///
    /// - Throws: ``PackError/Code/noKey`` if there is no such key, or if the Keychain refuses, with its status; ``PackError/Code/wrongKey`` if none
    ///   of the keys found fits.
    public func key(for request: KeyRequest) async throws(PackError) -> PackKey {
      let found = try await WorkerPool.value { (_) throws(PackError) -> KeyRing in
        let ring = KeyRing()
        for id in [request.keyID] + request.recipientIDs + roots where ring.keyIDs.first != request.keyID {
          if let key = try read(id) { ring.add(key) }
        }
        return ring
      }
      return try found.key(for: request)
    }

    /// Adds a key. If the Keychain has an item with the same id, that item stays unchanged: the id is derived from the key. The caller keeps its key.
    ///
    /// Blocks the calling thread while the Keychain works.
    ///
    /// - Throws: ``PackError/Code/cannotWrite`` if the Keychain refuses, with its status.
    public func add(_ key: borrowing PackKey) throws(PackError) {
      let status = key.secret.withSpan { bytes in
        unsafe bytes.withUnsafeBufferPointer { bytes -> OSStatus in
          // Not copied, because nothing would wipe the copy.
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
        throw PackError(.cannotWrite, "cannot add key \(key.id) to the Keychain: status \(status)")
      }
    }

    /// Removes a key. Does nothing if the Keychain does not have it.
    ///
    /// Blocks the calling thread while the Keychain works.
    ///
    /// - Throws: ``PackError/Code/cannotWrite`` if the Keychain refuses, with its status.
    public func remove(_ id: KeyID) throws(PackError) {
      let status = SecItemDelete(query(id))
      guard status == errSecSuccess || status == errSecItemNotFound else {
        throw PackError(.cannotWrite, "cannot remove key \(id) from the Keychain: status \(status)")
      }
    }

    private func read(_ id: KeyID) throws(PackError) -> PackKey? {
      var found: CFTypeRef?
      let status = unsafe SecItemCopyMatching(
        query(id, and: [(kSecReturnData, kCFBooleanTrue), (kSecMatchLimit, kSecMatchLimitOne)]), &found)
      guard status != errSecItemNotFound else { return nil }
      guard status == errSecSuccess, let found, CFGetTypeID(found) == CFDataGetTypeID() else {
        throw PackError(.noKey, "cannot read key \(id) from the Keychain: status \(status)")
      }
      let data = found as! CFData
      // The id is derived in another way for each kind, so it shows which kind the item is.
      for kind in [PackKey.Kind.application, .recipient] {
        let key = try unsafe PackKey(bytes: Span(_unsafeStart: CFDataGetBytePtr(data), count: CFDataGetLength(data)), kind: kind)
        // Keeps the object that holds the bytes alive until they were read.
        withExtendedLifetime(data) {}
        if key.id == id { return key }
      }
      throw PackError(.malformedKey, "the item for key \(id) in the Keychain holds another key")
    }

    /// Returns the attributes that identify an item, together with further ones.
    private func query(_ id: KeyID, and attributes: [(CFString, CFTypeRef?)] = []) -> CFDictionary {
      var all: [(CFString, CFTypeRef?)] = [
        (kSecClass, kSecClassGenericPassword), (kSecAttrService, Self.text(service)), (kSecAttrAccount, Self.text(id.description)),
        // Also on a Mac, because the older kind of Keychain would ask the user.
        (kSecUseDataProtectionKeychain, kCFBooleanTrue),
      ]
      if let accessGroup { all.append((kSecAttrAccessGroup, Self.text(accessGroup))) }
      all += attributes
      var keys: [UnsafeRawPointer?] = unsafe all.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0.0).toOpaque()) }
      var values: [UnsafeRawPointer?] = unsafe all.map { item in
        unsafe item.1.map { unsafe UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
      }
      var (keyCalls, valueCalls) = unsafe (kCFTypeDictionaryKeyCallBacks, kCFTypeDictionaryValueCallBacks)
      // Keeps `all` alive until the dictionary exists, which then retains its contents.
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
