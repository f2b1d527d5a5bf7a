import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("Secrets in files that are packed", .bounded)
struct SecretPackingTests {
  private let token = SecretCases.forges[0].text

  @Test("a secret in a file is refused with the path, the place and the rule, and is not shown")
  func refused() async throws {
    let project = try SampleProject()
    try project.add("fine.txt")
    try project.add("js/config.js", Array("// a\nvar a = 1\n\(token)\n".utf8))
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource)
    #expect(error?.message.contains("js/config.js contains what looks like a GitHub token in line 3, column 19 (github-token)") == true)
    #expect(error?.message.contains("_" + SecretCases.word(36).prefix(4)) == false, "the secret is in the message")
    #expect(error?.advice?.description.contains("--exclude") == true)
    try await project.pack { $0.settings.allowsSecrets = true }
    try await project.pack { $0.settings.excludes = ["js/config.js"] }
  }

  @Test("a secret is found on every border between frames", arguments: [-60, -45, -41, -30, -20, -10, -4, -3, -2, -1, 0, 1, 2])
  func frames(_ shift: Int) async throws {
    let project = try SampleProject()
    // The second border is between two frames that hold nothing but this file.
    for border in [65_536 - 512, 131_072 - 512] {
      let before = String(repeating: "0123456789abcde\n", count: 8192).prefix(border + shift)
      try project.add("big.txt", Array((before + " " + token + "\n" + String(repeating: "text\n", count: 20_000)).utf8))
      let error = await project.refusal()
      #expect(error?.message.contains("big.txt contains what looks like a GitHub token in line ") == true)
    }
  }

  @Test("of many small files in a frame, exactly those with a secret are refused", arguments: [65_536, 2 << 20])
  func smallFiles(frameSize: Int) async throws {
    var random = SeededGenerator()
    let project = try SampleProject()
    var expected: Set<String> = []
    for number in 0..<150 {
      let name = "f\(number).txt"
      // A text, or noise, of any size; in some, a secret at the start, at the end or between.
      let noise = random.bytes(Int.random(in: 0...900, using: &random))
      var bytes = Bool.random(using: &random) ? noise : Array(String(repeating: "let a = 1\n", count: noise.count / 10).utf8)
      if Int.random(in: 0..<4, using: &random) == 0 {
        let secret = Array(SecretCases.all.randomElement(using: &random)!.text.utf8)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes = secret + [10] + bytes
        case 1: bytes += [10] + secret
        default: bytes += [10] + secret + [10] + bytes
        }
        expected.insert(name)
      }
      try project.add(name, bytes)
    }
    let error = await project.refusal { $0.settings.frameSize = frameSize }
    let named = (error?.details ?? []).compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(Set(named) == expected)
  }

  @Test("a file is allowed by path, and by rule")
  func allowed() async throws {
    let project = try SampleProject()
    try project.add("a/web.js", Array(token.utf8))
    for path in ["a/web.js", "web.js", "a/", "*.js"] {
      try await project.pack { $0.settings.allowedSecrets = [AllowedSecret(path: path, reason: "a test")] }
      try await project.pack { $0.settings.allowedSecrets = [AllowedSecret(path: path, rule: "github-token", reason: "a test")] }
      #expect(
        await project.refusal { $0.settings.allowedSecrets = [AllowedSecret(path: path, rule: "npm-token", reason: "a test")] } != nil)
    }
    #expect(await project.refusal { $0.settings.allowedSecrets = [AllowedSecret(path: "b/", reason: "a test")] } != nil)
    // Another kind in the same file is still refused.
    try project.add("a/web.js", Array("\(token)\n\(SecretCases.services[0].text)\n".utf8))
    let error = await project.refusal { $0.settings.allowedSecrets = [AllowedSecret(path: "a/", rule: "github-token", reason: "a test")] }
    #expect(error?.message.contains("(stripe-secret-key)") == true)
  }

  @Test("a file whose name or start is that of a key is allowed by path")
  func allowedNames() async throws {
    let project = try SampleProject()
    try project.add(".env")
    try project.add("b.txt", Array("AGE-SECRET-KEY-1QQQ".utf8))
    #expect(await project.refusal()?.details.count == 2)
    try await project.pack {
      $0.settings.allowedSecrets = [.init(path: ".env", reason: "x"), .init(path: "b.txt", rule: "key-file", reason: "x")]
    }
  }

  @Test("a copy of an allowed file is refused")
  func copies() async throws {
    let project = try SampleProject()
    let content = Array((token + "\n" + String(repeating: "text\n", count: 4000)).utf8)
    try project.add("a.txt", content)
    try project.add("z.txt", content)
    let report = try await project.pack { $0.settings.allowsSecrets = true }
    try #require(report.duplicateFiles == 1)
    for path in ["a.txt", "z.txt"] {
      let other = path == "a.txt" ? "z.txt" : "a.txt"
      let error = await project.refusal { $0.settings.allowedSecrets = [AllowedSecret(path: path, reason: "a test")] }
      #expect(error?.message.contains("\(other) contains what looks like") == true)
    }
  }

  @Test("a build refuses a secret in a file, and its configuration can allow it with a reason")
  func build() async throws {
    let project = try ReleaseProject()
    try project.add("core/config.js", Array("\n\(token)".utf8))
    #expect(await project.refusal()?.message.contains("in line 2, column 19 (github-token)") == true)
    let entry = "{path: config.js, rule: github-token, reason: a test}"
    try project.configure(ReleaseProject.configuration + "defaults: {allowSecrets: [\(entry)]}\n")
    try await project.build()
  }
}
