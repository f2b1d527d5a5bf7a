/// The path of a pack that a command writes.
enum PackOutput {
  /// Throws if the path is a file other than a pack.
  static func check(_ path: String) throws(PackError) {
    let files = SystemFiles()
    guard let status = try? files.status(of: path, in: nil, following: .followed), status.kind == .file, status.size > 0,
      let file = try? files.open(path, .read, in: nil)
    else { return }
    var start = [UInt8](repeating: 0, count: PackHeader.magic.count)
    var target = start.mutableByteSpan
    _ = try? files.read(file, at: 0, filling: &target, name: path)
    guard start == PackHeader.magic else {
      throw PackError(.outputExists, of: path, "exists and is not a pack", hint: "choose another name with -o, or remove it")
    }
  }

  /// Throws if the path is a file other than a pack, or the file from which the pack is made.
  ///
  /// - Parameter remark: what the output is besides, in the message.
  static func check(
    _ path: String, isNot input: String, as remark: String = "a copy for other recipients is another file"
  ) throws(PackError) {
    let files = SystemFiles()
    if let new = try? files.status(of: path, in: nil, following: .followed),
      let old = try? files.status(of: input, in: nil, following: .followed), (new.device, new.inode) == (old.device, old.inode)
    {
      throw PackError(
        .usage, of: path, "is the pack itself, and \(remark)", hint: "choose another name with -o")
    }
    try check(path)
  }
}
