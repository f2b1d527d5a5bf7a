/// What has to be done after a download failed.
public enum FailureRemedy: Hashable, Sendable {
  /// It was not a pack, but the manifest: everything stays as it is, and the system fetches it again at its next occasion.
  case keepEverything
  /// The download was one that nobody waits for any more, or somebody else's.
  case nothing
  /// Hand the same download over again now, as a non-essential one: in Background Assets what `removingEssential()` returns.
  case handOverAsNonEssential
  /// Nothing now. The next plan does what is to be done.
  case planAgain(PackStatus)
}

/// Which download the system speaks of.
public enum DownloadSubject: Hashable, Sendable {
  /// The manifest, which the system downloads by itself.
  case manifest
  /// A download that was handed to the system.
  case download(identifier: String)
}
