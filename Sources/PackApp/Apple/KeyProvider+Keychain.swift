#if canImport(Security)

  extension KeyProvider where Self == KeychainKeys {
    /// The keys in the device's keychain under a service name: ``KeychainKeys``.
    ///
    /// - Parameters:
    ///   - service: The service of the keychain items, for example the app's bundle identifier.
    ///   - accessGroup: The access group, if the extension reads them too.
    public static func keychain(_ service: String, accessGroup: String? = nil) -> KeychainKeys {
      KeychainKeys(service: service, accessGroup: accessGroup)
    }
  }
#endif
