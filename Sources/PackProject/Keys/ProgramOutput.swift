package import PackFiles
package import PackFormat

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a program prints, for programs whose output is no secret. No shell is involved.
package enum ProgramOutput {
  /// Runs a program to its end. It inherits standard error.
  ///
  /// - Parameter limit: the largest number of bytes that are read.
  /// - Returns: its output, one byte more than the limit if it is longer.
  /// - Throws: ``PackError/Code/cannotRead`` if it could not be started, or ended with another status than 0.
  package static func read(_ words: [String], limit: Int, files: any FileSystem) throws(PackError) -> [UInt8] {
    let name = "'\(words[0])'"
    var ends: [CInt] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      throw PackError(.cannotRead, of: name, "could not be started: \(FileFailure(number: errno).text)")
    }
    var readEnd: OpenFile? = OpenFile(owning: ends[0])
    var writeEnd: OpenFile? = OpenFile(owning: ends[1])
    for descriptor in ends { closeOnStart(descriptor) }
    var program = ProgramStart(words)
    program.streams = [0: .nothing, 1: .descriptor(ends[1])]
    let (process, number) = program.run()
    // As long as this process has the writing end open, the reading end does not end.
    withExtendedLifetime(writeEnd) {}
    writeEnd = nil
    guard number == 0 else {
      let reason = number == ENOENT ? "was not found" : "could not be started: \(FileFailure(number: number).text)"
      throw PackError(.cannotRead, of: name, reason)
    }
    var output: [UInt8] = []
    var failure: FileFailure?
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    do throws(FileFailure) {
      while let readEnd, output.count <= limit {
        let count = try piece(of: readEnd, &buffer, files: files)
        guard count > 0 else { break }
        output += buffer[..<count]
      }
    } catch {
      failure = error
    }
    // Closed before the wait: a program with more output would block on the pipe and never end.
    readEnd = nil
    let end: ProgramEnd
    do throws(FileFailure) {
      end = try ProgramEnd.wait(for: process)
    } catch {
      throw PackError(.cannotRead, of: name, "could not be waited for: \(error.text)")
    }
    if let failure { throw PackError(.cannotRead, "the output of \(name) cannot be read: \(failure.text)") }
    if output.count > limit { return Array(output.prefix(limit + 1)) }
    switch end {
    case .status(0): return output
    case .status(let status): throw PackError(.cannotRead, of: name, "ended with status \(status)")
    case .signal(let signal): throw PackError(.cannotRead, of: name, "was ended by signal \(signal)")
    }
  }

  private static func piece(of file: OpenFile, _ buffer: inout [UInt8], files: any FileSystem) throws(FileFailure) -> Int {
    var span = buffer.mutableByteSpan
    return try unsafe span.withUnsafeMutableBytes { (bytes) throws(FileFailure) -> Int in try unsafe files.read(file, into: bytes) }
  }
}
