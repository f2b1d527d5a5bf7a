// expect: cannot convert value of type '[BAURLDownload]' to expected argument type 'DeliveryPlan'
import BackgroundAssets
import PackApp

/// The app hands over plans, which contain no essential downloads. It cannot hand over other downloads.
func hand(_ downloads: BackgroundDownloads, _ planned: PlannedDownload) async {
  let download = BAURLDownload(
    identifier: planned.identifier.description, request: URLRequest(url: URL(string: planned.url)!), essential: true, fileSize: 1,
    applicationGroupIdentifier: downloads.group, priority: .max)
  _ = await downloads.hand([download])
}
