extension ReleaseRule {
  /// All rules, in ascending order of their ids.
  package static let all: [ReleaseRule] = [
    ConfigurationRules.all, PackRules.all, DirectoryRules.all, ContentRules.all, UpdateRules.all, BudgetRules.all, ReleasedRules.all,
    PlistRules.all, AppRules.all, ManifestRules.all, VersionRules.all, StoreRules.all, WebRules.all, LiveRules.all, PortalRules.all,
  ].flatMap(\.self).sorted { $0.id < $1.id }
}
