/// The action to take after a download failed.
public enum FailureRemedy: Hashable, Sendable {
  /// Keep everything: the download was the manifest, not a pack. The system fetches it again at the next occasion.
  case keepEverything
  /// Do nothing: the download is no longer needed, or is not one of a pack.
  case nothing
  /// Hand the same download over again now, as a non-essential one: in Background Assets, the result of `removingEssential()`.
  case handOverAsNonEssential
  /// Do nothing now. The next plan takes care of it.
  case planAgain(PackStatus)
}

/// The download that a callback of the system is about.
public enum DownloadSubject: Hashable, Sendable {
  /// The manifest, which the system downloads by itself.
  case manifest
  /// A download that was handed to the system.
  case download(identifier: String)
}
