import Testing

@testable import PackProject

@Suite("The domain allow list, and the URLs it must allow")
struct AllowListTests {
  @Test(
    "an invalid entry is reported and allows nothing",
    arguments: [
      ("", "the domain allow list has an empty entry"),
      ("*", "no entry can allow all hosts"),
      ("*.", "no entry can allow all hosts"),
      ("https://cdn.example.com", "has a scheme"),
      ("https://cdn.example.com/", "has a scheme"),
      ("cdn.example.com/", "has a path"),
      ("cdn.example.com/packs", "has a path"),
      ("cdn.example.com:443", "has a port"),
      ("*.example.com:8443", "has a port"),
      ("user@cdn.example.com", "is more than a host name"),
      ("cdn.example.com?x", "is more than a host name"),
      (" cdn.example.com", "contains a space"),
      ("cdn.example.com\u{A0}", "white space"),
      ("cdn.example.com\n", "white space"),
      ("CDN.example.com", "upper-case letters: write cdn.example.com"),
      ("*.Example.com", "upper-case letters: write *.example.com"),
      ("*.com", "a whole top-level domain"),
      ("*.com.", "a whole top-level domain"),
      ("*.co.uk", "a public suffix"),
      ("*.com.au", "a public suffix"),
      ("*cdn.example.com", "must be followed by a dot"),
      ("**.example.com", "must be followed by a dot"),
      ("*.*.example.com", "an asterisk after the start"),
      ("cdn.*.com", "an asterisk after the start"),
      ("cdn.*", "an asterisk after the start"),
      ("bücher.example", "write xn--bcher-kva.example"),
      ("cdn.example.com.", "ends in a dot"),
      ("cdn..example.com", "has an empty part"),
      (".example.com", "has an empty part"),
      ("-cdn.example.com", "starts or ends with a hyphen"),
      ("cdn.exa,mple.com", "contains ','"),
      ("192.168.0.1", "is an IP address"),
      ("192.168.0.1:443", "is an IP address"),
      ("[2001:db8::1]", "is an IP address"),
      ("2001:db8::1", "is an IP address"),
      ("localhost", "has no dot"),
      (String(repeating: "a", count: 64) + ".example.com", "a part of 64 bytes (at most 63 are allowed)"),
      (Array(repeating: "abcdefg", count: 32).joined(separator: "."), "255 bytes (at most 253 are allowed)"),
    ])
  func faulty(entry: String, part: String) {
    let problem = AllowList.problem(of: entry)
    #expect(problem?.contains(part) == true, "\(problem ?? "nothing")")
    #expect(!AllowList([entry]).allows(host: entry), "a faulty entry allows nothing")
  }

  @Test(
    "a valid entry has no problem and no warning",
    arguments: [
      "cdn.example.com", "example.com", "*.example.com", "*.cdn.example.co.uk", "*.example.co.uk", "xn--bcher-kva.example",
      "my_bucket.s3.amazonaws.com", "a-b.c1.example", "1.example.com", "*.d111111abcdef8.cloudfront.net",
    ])
  func working(entry: String) {
    #expect(AllowList.problem(of: entry) == nil)
    #expect(AllowList.warning(about: entry) == nil)
  }

  @Test(
    "a wildcard for names that anyone can get is a warning",
    arguments: ["*.cloudfront.net", "*.amazonaws.com", "*.s3.amazonaws.com", "*.github.io", "*.pages.dev"])
  func shared(entry: String) {
    #expect(AllowList.problem(of: entry) == nil)
    #expect(AllowList.warning(about: entry)?.contains("anyone can serve files below") == true)
  }

  @Test(
    "hosts are allowed by name, and one level below a wildcard's domain",
    arguments: [
      ("cdn.example.com", "cdn.example.com", true),
      ("cdn.example.com", "CDN.Example.com", true),
      ("cdn.example.com", "cdn2.example.com", false),
      ("cdn.example.com", "a.cdn.example.com", false),
      ("cdn.example.com", "example.com", false),
      ("*.example.com", "cdn.example.com", true),
      ("*.example.com", "example.com", false),
      ("*.example.com", "a.b.example.com", false),
      ("*.example.com", "cdnexample.com", false),
      ("*.example.com", "cdn.example.com.evil.test", false),
      ("*", "cdn.example.com", false),
      ("*.com", "example.com", false),
      ("https://cdn.example.com", "cdn.example.com", false),
      ("cdn.example.com:443", "cdn.example.com", false),
      ("CDN.example.com", "cdn.example.com", false),
    ])
  func allowed(entry: String, host: String, isAllowed: Bool) {
    #expect(AllowList([entry]).allows(host: host) == isAllowed)
  }

  @Test("the refusal of a wildcard's own domain says why")
  func apex() throws {
    let list = AllowList(["*.example.com"])
    #expect(list.refusal(of: try ServedURL("https://cdn.example.com/a.pack")) == nil)
    #expect(
      list.refusal(of: try ServedURL("https://example.com/a.pack"))
        == "example.com is not in the domain allow list: *.example.com does not include the domain itself")
    #expect(list.refusal(of: try ServedURL("https://other.test/a.pack")) == "other.test is not in the domain allow list")
  }

  @Test("the list for some URLs is the shortest one and sorted, regardless of their order")
  func minimal() throws {
    let texts = ["https://packs.example.com/x/", "https://cdn.example.com/m.json", "https://example.com/a", "https://CDN.example.com/"]
    let urls = try texts.map { try ServedURL($0) }
    #expect(AllowList(covering: urls).entries == ["cdn.example.com", "example.com", "packs.example.com"])
    #expect(AllowList(covering: urls.reversed()) == AllowList(covering: urls))
    #expect(AllowList(covering: urls, wished: ["*.example.com"]).entries == ["*.example.com", "example.com"])
    #expect(
      AllowList(covering: urls, wished: ["mirror.test", "*.example.com", "cdn.example.com"]).entries
        == ["*.example.com", "example.com", "mirror.test"])
    #expect(AllowList(covering: [], wished: []).entries.isEmpty)
    let all = AllowList(covering: urls, wished: ["*.example.com"])
    #expect(urls.allSatisfy { all.allows(host: $0.host) })
  }

  @Test(
    "a URL that the system would not download is refused",
    arguments: [
      ("", "does not start with https://"),
      ("cdn.example.com/a", "does not start with https://"),
      ("https:/cdn.example.com/a", "does not start with https://"),
      ("http://cdn.example.com/a", "has the scheme 'http'"),
      ("ftp://cdn.example.com/a", "has the scheme 'ftp'"),
      ("file:///a", "has the scheme 'file'"),
      ("https://", "has a host that is empty"),
      ("https:///a", "has a host that is empty"),
      ("https://cdn.example.com/a#b", "has a fragment"),
      ("https://cdn.example.com:0/a", "has the port '0'"),
      ("https://cdn.example.com:65536/a", "has the port '65536'"),
      ("https://cdn.example.com:/a", "has the port ''"),
      ("https://cdn.example.com:+1/a", "has the port '+1'"),
      ("https://cdn..example.com/a", "has an empty part"),
      ("https://*.example.com/a", "contains '*'"),
      ("https://10.0.0.1/a", "is an IP address"),
      ("https://[::1]:8080/a", "is an IP address"),
      ("https://localhost/a", "has no dot"),
      ("https://bücher.example/a", "is not written in punycode"),
      ("https://cdn.example.com/a b", "contains the character U+20"),
      ("https://cdn.example.com/ä", "contains the character U+E4"),
      ("https://cdn.example.com/a\\b", "contains the character U+5C"),
      ("https://cdn.example.com/%zz/a", "has a percent sign"), ("https://cdn.example.com/100%", "has a percent sign"),
      ("https://cdn.example.com/" + String(repeating: "a", count: 2025), "is 2049 bytes long"),
    ])
  func refusedURL(text: String, part: String) {
    let error = #expect(throws: PackError.self) { try ServedURL(text) }
    #expect(error?.code == .malformedURL)
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
  }

  @Test("a password in a URL is refused without being repeated")
  func password() {
    let error = #expect(throws: PackError.self) { try ServedURL("https://packer:hunter2@cdn.example.com/a") }
    #expect(error?.message == "a URL contains a user name or a password")
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test("a URL gives its host in lower case, and warns of a query and of a port")
  func parts() throws {
    let plain = try ServedURL("HTTPS://CDN.Example.com/packs/a%20b.pack")
    #expect(plain.host == "cdn.example.com")
    #expect(plain.port == nil)
    #expect(plain.warnings.isEmpty)
    let odd = try ServedURL("https://cdn.example.com:8443/m.json?sig=1")
    #expect(odd.port == 8443)
    #expect(odd.warnings.count == 2)
    #expect(odd.warnings[0].contains("has a query"))
    #expect(odd.warnings[1].contains("uses the port 8443"))
  }

  @Test(
    "punycode gives the samples of RFC 3492 §7.1, from Arabic to the one that is all ASCII; basic characters keep their case",
    arguments: [
      ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
      ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
      ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
      ("Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a"),
      ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
      ("यहलोगहिन्दीक्योंनहींबोलसकतेहैं", "i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd"),
      ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
      ("세계의모든사람들이한국어를이해한다면얼마나좋을까", "989aomsvi5e83db1d2a355cv1e0vak1dwrv93d5xbh15a0dt30a5jpsd879ccm6fea98c"),
      ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
      ("PorquénopuedensimplementehablarenEspañol", "PorqunopuedensimplementehablarenEspaol-fmd56a"),
      ("TạisaohọkhôngthểchỉnóitiếngViệt", "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g"),
      ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
      ("安室奈美恵-with-SUPER-MONKEYS", "-with-SUPER-MONKEYS-pc58ag80a8qai00g7n9n"),
      ("Hello-Another-Way-それぞれの場所", "Hello-Another-Way--fc4qua05auwb3674vfr0b"),
      ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
      ("MajiでKoiする5秒前", "MajiKoi5-783gue6qz075azm5e"),
      ("パフィーdeルンバ", "de-jg4avhby1noc0d"),
      ("そのスピードで", "d9juau41awczczp"),
      ("-> $1.00 <-", "-> $1.00 <--"),
    ] as [(String, String)])
  func samples(text: String, punycode: String) {
    #expect(Punycode.encode(text.unicodeScalars.map(\.value)) == punycode)
  }

  @Test(
    "a name in another script is suggested in punycode (RFC 3492 §7.1)",
    arguments: [
      ("他们为什么不说中文.example", "xn--ihqwcrb4cv8a8dqg056pqjye.example"),
      ("ليهمابتكلموشعربي؟.example", nil),
      ("Pročprostěnemluvíčesky.example", "xn--proprostnemluvesky-uyb24dma41a.example"),
      ("почемужеонинеговорятпорусски.example", "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l.example"),
      ("3年B組金八先生.example", "xn--3b-ww4c5e180e575a65lsy2b.example"),
      ("münchen.bücher.example", "xn--mnchen-3ya.xn--bcher-kva.example"),
      ("bu\u{308}cher.example", "xn--bcher-kva.example"),
    ] as [(String, String?)])
  func punycode(name: String, ascii: String?) {
    if let ascii { #expect(Punycode.host(name) == ascii) }
    #expect(AllowList.problem(of: name) != nil)
  }
}
