#if PACKER_FUZZ_ENGINE
  import Foundation

  /// libFuzzer, which provides `main` if the program is built with `-sanitize=fuzzer`. It mutates inputs, guided by the branches they take.
  enum Engine {
    /// The target of this process, because the function that libFuzzer calls has no parameter for it. Set before the first input.
    nonisolated(unsafe) fileprivate static var target: FuzzTarget?

    /// Sets the target, and returns nil, so that libFuzzer takes over.
    static func run(_ target: FuzzTarget, arguments: [String]) -> CInt? {
      unsafe Self.target = target
      return nil
    }
  }

  /// Called by libFuzzer before it parses its arguments. All verbs except `engine` run here and end the process.
  @_cdecl("LLVMFuzzerInitialize")
  func initializeEngine(
    _ count: UnsafeMutablePointer<CInt>, _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
  ) -> CInt {
    if let status = PackerFuzz.status() { exit(status) }
    // The arguments after the verb and the target are libFuzzer's.
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

  /// The replacement for builds without libFuzzer.
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
