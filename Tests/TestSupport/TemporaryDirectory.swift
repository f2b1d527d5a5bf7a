import Foundation

/// A directory for one test, removed with its content when its last owner is released.
///
/// A suite keeps it in a property, which lives as long as the test runs.
package final class TemporaryDirectory: Sendable {
  /// The absolute path of the directory.
  package let path: String

  package init() throws {
    path = try TestPlace.newPath()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Returns the path of a name in the directory. The name may contain slashes.
  package func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a file, and the directories above it.
  @discardableResult
  package func write(_ bytes: some Sequence<UInt8>, to name: String, mode: Int = 0o644) throws -> String {
    let file = self(name)
    // Searches by bytes, because a combining character may follow the slash.
    let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) ?? file.utf8.startIndex
    let parent = String(file.utf8[..<slash]) ?? ""
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    guard
      FileManager.default.createFile(atPath: file, contents: Data(bytes), attributes: [.posixPermissions: mode])
    else {
      throw CocoaError(.fileWriteUnknown)
    }
    // Set again, because the mask of the process applies when a file is made.
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    return file
  }

  /// Makes a directory, and those above it.
  @discardableResult
  package func makeDirectory(_ name: String) throws -> String {
    try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true)
    return self(name)
  }

  /// Returns the content of a file, or nil if it does not exist.
  package func bytes(of name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: self(name)).map { [UInt8]($0) }
  }

  /// Returns the sorted names in the directory, or in one below it, including hidden ones.
  package func names(in directory: String = "") -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: self(directory))) ?? []).sorted()
  }

  /// Returns the sorted paths of everything below a directory, relative to it.
  package func tree(_ directory: String = "") throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: self(directory)).sorted()
  }

  /// Returns the permission bits of a file.
  package func mode(of name: String) throws -> Int {
    let value = try FileManager.default.attributesOfItem(atPath: self(name))[.posixPermissions]
    return (value as? NSNumber)?.intValue ?? -1
  }
}
