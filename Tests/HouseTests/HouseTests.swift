import Foundation
import TestSupport
import Testing

/// One source file, and what it says without its comments.
struct SourceFile: CustomStringConvertible {
  /// Below the root of the project.
  let path: String
  let lines: [String]

  var description: String { path }

  /// The lines with what stands behind `//` taken off, numbered from 1.
  var code: [(number: Int, text: String)] {
    lines.enumerated().map { number, line in
      (number + 1, line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? line)
    }
  }

  /// What the file imports, with the line.
  var imports: [String] {
    code.compactMap { line in
      line.text.firstMatch(of: /^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:public |package |internal )?import\s+(?:\w+\s+)?([A-Za-z_]+)/)
        .map { String($0.1) }
    }
  }

  /// All Swift files below a folder of the project.
  static func all(in folder: String) -> [SourceFile] {
    let root = TestVector.testsFolder.deletingLastPathComponent()
    let names =
      FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)?
      .compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
      let path = "\(folder)/\(name)"
      guard let text = try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8) else { return nil }
      return SourceFile(path: path, lines: text.components(separatedBy: "\n"))
    }
  }
}

@Suite("The house rules")
struct HouseTests {
  private let sources = SourceFile.all(in: "Sources")

  private var client: [SourceFile] {
    let targets = ["PackFormat", "PackFiles", "PackCrypto", "PackManifest", "PackPayload", "PackDelivery", "PackRuntime", "PackTransport"]
    return sources.filter { file in targets.contains { file.path.hasPrefix("Sources/\($0)/") } }
  }

  @Test("there are sources to look at")
  func sourcesAreThere() {
    #expect(client.count > 30)
    #expect(sources.count > client.count)
  }

  @Test("the client imports Foundation on Apple platforms only")
  func foundation() {
    for file in client where !file.path.contains("/CryptoKit/") && !file.path.hasPrefix("Sources/PackTransport/") {
      var isDarwin = [Bool]()
      for (number, line) in file.code {
        let word = line.trimmingCharacters(in: .whitespaces)
        if word.hasPrefix("#if") {
          isDarwin.append(["#if canImport(Darwin)", "#if canImport(WebKit)"].contains(word))
        } else if word == "#else" || word.hasPrefix("#elseif") {
          isDarwin[isDarwin.count - 1] = false
        } else if word == "#endif" {
          isDarwin.removeLast()
        } else if word.contains(/\bimport\s+Foundation/) {
          #expect(isDarwin.contains(true), "\(file):\(number) imports Foundation")
        }
      }
    }
  }

  @Test("the system's HTTP client is used by PackTransport alone, and nothing that packer is made of uses PackTransport")
  func network() {
    for file in sources where !file.path.hasPrefix("Sources/PackTransport/") {
      // What a server says of itself is tried by the fuzzer too.
      let allowed: Set<String> = file.path.hasPrefix("Sources/packer-fuzz/") ? ["PackTransport"] : []
      #expect(Set(file.imports).subtracting(allowed).isDisjoint(with: ["FoundationNetworking", "PackTransport"]), "\(file)")
    }
  }

  @Test("the client uses nothing that its oldest systems lack")
  func oldSystems() {
    for file in client {
      #expect(!file.imports.contains("Synchronization"), "\(file)")
      for (number, line) in file.code where !line.isEmpty {
        #expect(!line.contains(/\b(Mutex|Atomic|InlineArray|UTF8Span)\b/), "\(file):\(number): \(line)")
      }
    }
  }

  @Test("a C library is imported only in the folder named after it")
  func libraries() {
    let folders = [
      "COpenSSL": "/OpenSSL/", "CLibArchive": "/LibArchive/", "CZstd": "/Zstd/", "libzstd": "/Zstd/",
      "CLinux": "Sources/PackFiles/", "Crypto": "/CryptoKit/", "CryptoKit": "/CryptoKit/",
      "CLibYAML": "/LibYAML/",
    ]
    for file in sources {
      for module in file.imports {
        guard let folder = folders[module] else { continue }
        #expect(file.path.contains(folder), "\(file) imports \(module)")
      }
    }
  }

  @Test("the client imports nothing that only the packing side needs")
  func direction() {
    for file in client {
      for module in ["PackArchive", "PackerKit", "ArgumentParser", "CLibArchive"] {
        #expect(!file.imports.contains(module), "\(file) imports \(module)")
      }
    }
  }

  @Test("what a downloader extension links for its deliveries brings no cryptography and no C library")
  func extensions() {
    let files = sources.filter { $0.path.hasPrefix("Sources/PackDelivery/") }
    #expect(files.count > 10)
    for file in files {
      let others = Set(file.imports).subtracting(["PackFiles", "PackFormat", "PackManifest", "Darwin", "Glibc"])
      #expect(others.isEmpty, "\(file) imports \(others)")
    }
  }

  @Test("the system's file functions are called in PackFiles only")
  func fileFunctions() {
    let calls =
      /(?:^|[^.\w`])(open|openat|creat|read|pread|write|pwrite|rename|renameat|unlink|unlinkat|rmdir|mkdir|mkdirat|stat|lstat|fstat|fstatat|fchmod|chmod|fsync|ftruncate|fopen|opendir|fdopendir|readdir|flock|realpath|mkstemp|mkdtemp|symlink|link)\(/
    // Closed standard streams are opened before anything else runs, on the lowest free number, which no owner may close.
    let exceptions = ["Sources/packer/StandardStreams.swift"]
    for file in sources where !file.path.hasPrefix("Sources/PackFiles/") && !exceptions.contains(file.path) {
      let isSystem = !Set(file.imports).isDisjoint(with: ["Glibc", "Darwin", "Foundation", "CLinux"])
      for (number, line) in file.code where isSystem && !line.isEmpty && !line.contains("func ") {
        #expect(!line.contains(calls), "\(file):\(number): \(line)")
        #expect(
          !line.contains(/\b(Glibc|Darwin)\.(open|read|write|close|stat)\b|\bFileManager\b|\bFileHandle\b/), "\(file):\(number): \(line)")
      }
    }
  }

  @Test("nothing is left to be done")
  func leftovers() {
    // Put together here, so that this file does not find itself.
    let words = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]
    for file in sources + SourceFile.all(in: "Tests") {
      for (number, line) in file.lines.enumerated() {
        for word in words {
          #expect(!line.contains(word), "\(file):\(number + 1): \(line)")
        }
      }
    }
  }

  @Test("every public declaration says what it is")
  func documentation() {
    for file in sources {
      for (index, line) in file.lines.enumerated() {
        guard line.contains("public "),
          line.contains(
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*public\s+(?:static\s+|final\s+|mutating\s+)*(func|var|let|struct|class|enum|init|typealias|protocol|actor|subscript)\b/
          )
        else { continue }
        // A member that a protocol asks for has the protocol's words.
        if line.contains("static func <") || line.contains("static func ==") || line.contains("hash(into") { continue }
        var above = index - 1
        while above >= 0, file.lines[above].contains(/^\s*@/) { above -= 1 }
        let comment = above >= 0 ? file.lines[above].trimmingCharacters(in: .whitespaces) : ""
        #expect(comment.hasPrefix("///"), "\(file):\(index + 1) has no comment: \(line)")
      }
    }
  }
}
