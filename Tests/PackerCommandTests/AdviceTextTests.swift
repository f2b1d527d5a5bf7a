import TestSupport
import Testing

@testable import packer

@Suite("Advice on the command line")
struct AdviceTextTests {
  @Test("has a one-line text for every piece of advice", arguments: PackError.Advice.samples)
  func words(advice: PackError.Advice) {
    let hint = PackError(.usage, "nothing is wrong", advice: advice).hint
    #expect(hint?.isEmpty == false && hint?.contains("\n") == false)
    #expect(PackError(.usage, "nothing is wrong").hint == nil)
  }

  @Test("names the command to type")
  func commands() {
    func hint(_ code: PackError.Code, _ advice: PackError.Advice) -> String? { PackError(code, "", advice: advice).hint }

    #expect(hint(.manifestExpired, .renewManifest) == "publish a new one with 'packer build --renew', or set this device's clock")
    #expect(hint(.purged, .install) == "install it again ('packer store install')")
    #expect(hint(.notInstalled, .install) == "install it first ('packer store install')")
    #expect(hint(.damagedStore, .reconcileStore)?.contains("'packer store reconcile'") == true)
    #expect(hint(.noManifest, .acceptManifest)?.contains("'packer store adopt'") == true)
    #expect(hint(.untrustedSignature, .fetchManifestAgain) == "fetch it again, or sign it again with 'packer build'")
    #expect(hint(.malformedKey, .giveKeyText(prefix: "pkp1-", insteadOf: "pks1-"))?.contains("packer key public") == true)
    #expect(hint(.malformedKey, .giveKeyText(prefix: "pkk1-", insteadOf: "pkp1-")) == "give the key that starts with pkk1-")
  }
}
