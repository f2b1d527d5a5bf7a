/// The keys of one edition that has a key of its own: another provider has the key of its pack, with which the edition's opener is opened
/// (FORMAT.md §2.8).
package struct OpenerKeys: KeyProvider {
  private let opener: Opener
  private let base: any KeyProvider

  /// - Parameters:
  ///   - opener: the opener of the edition.
  ///   - base: has the pack's key, or the root key.
  package init(_ opener: Opener, over base: any KeyProvider) {
    self.opener = opener
    self.base = base
  }

  /// Returns the key of the edition.
  ///
  /// - Throws: ``PackError/Code/wrongPack`` for another edition, the errors of the other provider, and ``PackError/Code/damagedOpener``.
  package func key(for request: KeyRequest) async throws(PackError) -> PackKey {
    guard request.packID == opener.edition.packID, request.packVersion == opener.edition.version else {
      throw PackError(.wrongPack, "opener is for another edition, version \(opener.edition.version) of its pack", advice: .fetchAgain)
    }
    let holder = try await base.checkedKey(
      for: KeyRequest(keyID: opener.holderID, packID: request.packID, path: request.path))
    return try opener.open(request.keyID, with: holder)
  }
}
