#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a program prints, for programs whose output is no secret. No shell is involved.
package enum ProgramOutput {
  /// Runs a program to its end. It inherits standard error. If the task is cancelled, the program is ended.
  ///
  /// - Parameters:
  ///   - limit: the largest number of bytes that are read.
  ///   - statuses: the statuses besides 0 with which it may end.
  ///   - variables: the starts of variables that it does not inherit.
  /// - Returns: its output, one byte more than the limit if it is longer.
  /// - Throws: ``PackError/Code/cannotRead`` if it could not be started, or ended with another status.
  package static func read(
    _ words: [String], limit: Int, files: any FileSystem, allowing statuses: [CInt] = [], without variables: [String] = []
  ) throws(PackError) -> [UInt8] {
    let name = "'\(words[0])'"
    var start = ProgramStart(words)
    start.withheld = variables
    start.streams[0] = .nothing
    var program = try start.runPiped(name, failing: .cannotRead)
    var output: [UInt8] = []
    var failure: FileFailure?
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var isCancelled = false
    do throws(FileFailure) {
      while let pipe = program.output, output.count <= limit {
        isCancelled = Task.isCancelled
        if isCancelled { break }
        guard hasSomething(pipe) else { continue }
        let count = try piece(of: pipe, &buffer, files: files)
        guard count > 0 else { break }
        output += buffer[..<count]
      }
    } catch {
      failure = error
    }
    program.output = nil
    guard !isCancelled else {
      ProgramEnd.stop(program.process, patience: .seconds(2))
      throw PackError(.cancelled, "cancelled")
    }
    let ending = Result { () throws(PackError) in try ProgramEnd.wait(for: program.process, name, failing: .cannotRead, allowing: statuses)
    }
    if let failure { throw PackError(.cannotRead, "the output of \(name) cannot be read: \(failure.text)") }
    // A program whose output is not read to its end is ended by the closed pipe.
    if output.count > limit { return Array(output.prefix(limit + 1)) }
    try ending.get()
    return output
  }

  /// Waits a moment for output, or for its end.
  private static func hasSomething(_ pipe: OpenFile) -> Bool {
    var request = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&request, 1, 100) > 0
  }

  private static func piece(of file: OpenFile, _ buffer: inout [UInt8], files: any FileSystem) throws(FileFailure) -> Int {
    var span = buffer.mutableByteSpan
    return try unsafe span.withUnsafeMutableBytes { (bytes) throws(FileFailure) -> Int in try unsafe files.read(file, into: bytes) }
  }
}
