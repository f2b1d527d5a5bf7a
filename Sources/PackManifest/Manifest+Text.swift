public import PackFormat

extension Manifest {
  /// The `signed` part of the document, in its one form: what is to be signed.
  ///
  /// Parts that are nil are left out, though readers want all but ``issued`` and ``budget``.
  ///
  /// - Throws: ``PackError/Code/invalidManifest`` for values that no manifest may hold, all of them in the details.
  public func signedBytes() throws(PackError) -> [UInt8] {
    throw PackError(.internalError, "unfinished")
  }

  /// The same without `version`, `issued` and `expires`: equal for manifests that differ in nothing but time.
  public func contentBytes() throws(PackError) -> [UInt8] {
    throw PackError(.internalError, "unfinished")
  }

  /// Reads the `signed` part of a document, whose signature the caller has checked.
  ///
  /// Unknown keys are passed over; everything else must be as FORMAT.md §9.1 and §9.3 have it.
  ///
  /// - Throws: ``PackError/Code/damagedManifest``, or ``PackError/Code/unsupported`` for another schema than ``schema``.
  public init(parsingSigned bytes: Span<UInt8>) throws(PackError) {
    throw PackError(.internalError, "unfinished")
  }
}
