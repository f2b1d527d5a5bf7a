#if PACKER_FUZZ_ENGINE
  import Foundation

  /// libFuzzer, which brings the program's `main` where it is built with `-sanitize=fuzzer`: it mutates inputs by the branches that they take.
  enum Engine {
    /// The target of this process: the function that libFuzzer calls has no room for it. Set before anything runs.
    nonisolated(unsafe) fileprivate static var target: FuzzTarget?

    /// The verb that hands the process to libFuzzer.
    static func run(_ target: FuzzTarget, arguments: [String]) -> CInt? {
      unsafe Self.target = target
      return nil
    }
  }

  /// Called by libFuzzer before it looks at its arguments: all verbs but one are done here, and end the process.
  @_cdecl("LLVMFuzzerInitialize")
  func initializeEngine(
    _ count: UnsafeMutablePointer<CInt>, _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
  ) -> CInt {
    if let status = PackerFuzz.status() { exit(status) }
    // What follows the verb and the target is libFuzzer's.
    unsafe words.pointee[2] = words.pointee[0]
    unsafe words.pointee += 2
    unsafe count.pointee -= 2
    return 0
  }

  @_cdecl("LLVMFuzzerTestOneInput")
  func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: data, count: size))
    do throws(BrokenPromise) {
      try unsafe Engine.target?.run(bytes)
    } catch {
      fatalError("broken promise: \(error)")
    }
    return 0
  }
#else
  import Foundation

  /// Stands in where libFuzzer is not linked in.
  enum Engine {
    static func run(_ target: FuzzTarget, arguments: [String]) -> CInt? {
      complain("this packer-fuzz was built without libFuzzer", hint: "Scripts/fuzz \(target.name) 60")
      return 64
    }
  }

  @main
  extension PackerFuzz {
    static func main() {
      exit(status() ?? 0)
    }
  }
#endif
