#if canImport(Darwin)
  let processArguments = CommandLine.arguments
#else
  import Glibc

  /// The arguments of the process, the first of which names it.
  ///
  /// Swift itself would search for them near `environ`, with the help of `/proc`. A library that was loaded first may have moved the one, and a
  /// container may lack the other.
  let processArguments = unsafe (0..<Int(argumentCount)).compactMap { index in
    unsafe argumentTexts?[index].map { unsafe String(cString: $0) }
  }

  private typealias Texts = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  // Written once, before `main`, by the only thread.
  private nonisolated(unsafe) var argumentCount: CInt = 0
  private nonisolated(unsafe) var argumentTexts: Texts?

  /// The C library calls the functions in this section before `main`, with the same arguments.
  @section(".init_array") @used
  private let saveArguments: @convention(c) (CInt, Texts?) -> Void = { count, texts in
    unsafe argumentCount = count
    unsafe argumentTexts = texts
  }
#endif
