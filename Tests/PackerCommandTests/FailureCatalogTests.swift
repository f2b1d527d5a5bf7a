import Foundation
import TestSupport
import Testing

@testable import packer

@Suite("Exit statuses and error codes of packer explain")
struct FailureCatalogTests {
  @Test("are the same as in TROUBLESHOOTING.md, with the same texts in the same order")
  func page() throws {
    let page = TestVector.testsFolder.appendingPathComponent("../Documentation/TROUBLESHOOTING.md")
    let written = Self.entries(try String(contentsOf: page, encoding: .utf8))
    let known = (FailureCatalog.exitStatuses + FailureCatalog.errorCodes).map { [$0.code, "\($0.cause) \($0.remedy)"] }

    #expect(written.count > 80)
    #expect(written == known)
  }

  /// Returns the code and text of each entry, without Markdown.
  private static func entries(_ page: String) -> [[String]] {
    page.split(separator: "\n### ").dropFirst().map { section in
      let lines = section.split(separator: "\n").map(String.init)
      let code = lines[0].replacing("Exit ", with: "").replacing("`", with: "")
      let body = lines.dropFirst().prefix { !$0.hasPrefix("#") }.joined(separator: " ")
      return [code, body.replacing(/\[[^\]]*\]\(([A-Z_]+\.md)[^)]*\)/) { "Documentation/\($0.output.1)" }.replacing("`", with: "'")]
    }
  }
}
