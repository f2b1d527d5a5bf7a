package import PackFiles
public import PackFormat

/// A report that is kept in a file.
public enum ReportFile {
  /// Writes a report, and replaces an earlier one at once.
  public static func write(_ bytes: [UInt8], to path: String) throws(PackError) {
    try write(bytes, to: path, files: SystemFiles())
  }

  package static func write(_ bytes: [UInt8], to path: String, files: any FileSystem) throws(PackError) {
    let output = try OutputFile(path, files: files)
    try output.write(bytes.span, at: 0, of: UInt64(bytes.count))
    try output.commit()
  }
}
