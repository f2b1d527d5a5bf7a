import ArgumentParser
import PackFormat
import PackProject
import PackPublish

/// The place from which devices fetch releases.
struct PlaceOption: ParsableArguments {
  @Option(
    name: .customLong("to"),
    help: ArgumentHelp("The folder, remote of rclone or program. (default: 'publish: {to: …}' in packer.yml)", valueName: "place"))
  var text: String?

  /// - Throws: ``PackError/Code/usage`` if none is named.
  func place(_ configuration: PackerConfiguration?, showsProgress: Bool) throws(PackError) -> any PublishingPlace {
    guard let text = text ?? configuration?.publish.place else {
      throw PackError(
        .usage, "no place was named", hint: "give --to games:bucket/packs, or write into packer.yml: publish: {to: games:bucket/packs}")
    }
    return try PlaceName.place(text, showsProgress: showsProgress)
  }
}
