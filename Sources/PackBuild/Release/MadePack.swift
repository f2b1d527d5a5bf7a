/// Where a pack of a release comes from.
enum PackOrigin: Sendable {
  case kept
  case reused(SourceCensus)
  case cached(SourceCensus)
  case packed(SourceCensus, reason: String)

  /// What was read of its source. Nil if that was not read.
  var census: SourceCensus? {
    switch self {
    case .kept: nil
    case .reused(let census), .cached(let census), .packed(let census, _): census
    }
  }

  /// Returns what the report says of a pack.
  func item(_ id: String, _ version: UInt64, _ entry: ManifestPack? = nil) -> ReleaseBuildReport.Item {
    let (action, reason): (ReleaseBuildReport.Item.Action, String?) =
      switch self {
      case .kept: (.kept, nil)
      case .reused: (.reused, nil)
      case .cached: (.cached, nil)
      case .packed(_, let reason): (.packed, reason)
      }
    return ReleaseBuildReport.Item(
      id: id, version: version, action: action, reason: reason, contentSize: entry?.contentSize ?? census?.contentSize ?? 0, entry: entry,
      omitted: census?.omitted ?? [])
  }
}

/// A pack of a release whose file is there, made or taken.
struct MadePack: Sendable {
  let keyed: KeyedPack
  let record: BuildRecord.Pack
  let origin: PackOrigin
  /// What there is to say about it.
  var remarks: [ReleaseBuildReport.Remark] = []

  var id: String { keyed.id }
}
