import TestSupport
import Testing

@Suite("The tokenizer of pages", .bounded)
struct MarkupTokenizerTests {
  /// The tags of a text: `<name a="value">` for each, without those that the content of an element only seems to have.
  private func tags(_ text: String, hasSections: Bool = false) -> [String] {
    let tokens = MarkupTokenizer(Array(text.utf8))
    tokens.hasSections = hasSections
    var tags: [String] = []
    while let token = tokens.next() {
      switch token {
      case .start(let name, let attributes, let isSelfClosing):
        tags.append("<\(name)\(attributes.map { " \($0.name)=\"\($0.value)\"" }.joined())\(isSelfClosing ? "/" : "")>")
        switch name {
        case "title", "style": _ = tokens.skipContent(of: name, .plain)
        case "script": _ = tokens.skipContent(of: name, .script)
        case "plaintext": _ = tokens.skipContent(of: name, .endless)
        default: break
        }
      case .end(let name): tags.append("</\(name)>")
      case .text: break
      }
    }
    return tags
  }

  @Test(
    "attributes are read as the standard says",
    arguments: [
      ("<A HREF=x>", #"<a href="x">"#), ("<a b='1'c=\"2\"d>", #"<a b="1" c="2" d="">"#), ("<a b=1 B=2>", #"<a b="1">"#),
      ("<a b=c/>", #"<a b="c/">"#),
      ("<a b='c'/>", #"<a b="c"/>"#), ("<a/b/c>", #"<a b="" c="">"#), ("<a =b=c>", #"<a =b="c">"#), ("<a b = c>", #"<a b="c">"#),
      ("<a b=>", #"<a b="">"#), ("<a b=\"x\ny\">", "<a b=\"x\ny\">"), ("<a b='x\r\ny\rz'>", "<a b=\"x\ny\nz\">"),
      ("<a b='\0'>", "<a b=\"\u{FFFD}\">"),
      ("<a b=>c>", #"<a b="">"#), ("<a b=c\"d>", #"<a b="c"d">"#), ("<a \"=1>", #"<a "="1">"#), ("<a\u{C}b>", #"<a b="">"#), ("<a", ""),
      ("<a b='c", ""),
      ("</a b=c>", "</a>"), ("</>x<i>", "<i>"), ("< a><b>", "<b>"), ("<3<i>", "<i>"),
    ])
  func attributes(text: String, expected: String) {
    #expect(tags(text).joined() == expected)
  }

  @Test("of an attribute that occurs twice, the first one counts, also among very many")
  func duplicates() {
    let many = (0..<3000).map { "a\($0)=\($0)" }.joined(separator: " ")
    #expect(
      tags("<i \(many) \(many.replacing("=", with: "=x"))>") == ["<i " + (0..<3000).map { "a\($0)=\"\($0)\"" }.joined(separator: " ") + ">"]
    )
  }

  @Test(
    "character references in values are replaced as the standard says",
    arguments: [
      ("a&amp;b", "a&b"), ("a&ampb", "a&ampb"), ("a&amp", "a&"), ("a&amp=b", "a&amp=b"), ("a?b=1&copy=2", "a?b=1&copy=2"), ("&copy.", "©."),
      ("a&period;js", "a.js"), ("a&periodjs", "a&periodjs"), ("&#65;&#x42;&#X43&#68", "ABCD"),
      ("&#0;&#xD800;&#x110000;", "\u{FFFD}\u{FFFD}\u{FFFD}"),
      ("&#x80;", "€"), ("&#;&#x;&#", "&#;&#x;&#"), ("&sol;&colon;&lowbar;", "/:_"), ("&unknown;", "&unknown;"), ("&", "&"),
      ("&&amp;", "&&"),
      ("&#99999999999999999999;", "\u{FFFD}"),
    ])
  func references(value: String, expected: String) {
    #expect(tags("<i a=\"\(value)\">") == ["<i a=\"\(expected)\">"])
  }

  @Test(
    "comments end where the standard says",
    arguments: [
      "<!--<b>--><i>", "<!--><i>", "<!---><i>", "<!----><i>", "<!--a--!><i>", "<!--a--!--><i>", "<!--a--><i>", "<!--a- -><b>--><i>",
      "<!--a----><i>",
      "<!-- <!-- --><i>", "<!--<!--><i>", "<!a <b><i>", "<?a <b><i>", "</ <b><i>", "<!DOCTYPE a \"<b><i>", "<!><i>", "<![CDATA[<b><i>",
    ])
  func comments(text: String) {
    #expect(tags(text) == ["<i>"])
  }

  @Test("a comment that does not end hides the rest")
  func endlessComment() {
    #expect(tags("<!-- <i> -- >").isEmpty)
    #expect(tags("<!---!><i>").isEmpty)
  }

  @Test("sections of XML are text only where they may be")
  func sections() {
    #expect(tags("<![CDATA[<b>]]><i>", hasSections: true) == ["<i>"])
    #expect(tags("<![CDATA[<b>]]]]><i>", hasSections: true) == ["<i>"])
    #expect(tags("<![CDATA[<b>]]><i>") == ["<i>"])
    #expect(tags("<![CDATA[<i>", hasSections: true).isEmpty)
  }

  @Test(
    "a script ends where the standard says",
    arguments: [
      ("<script>'<i>'</script><b>", 1), ("<script></scripty></SCRIPT\n><b>", 1), ("<script><!--</script><b>", 1),
      ("<script><!--<script></script><i>--></script><b>", 1), ("<script><!--<script></script></script><b>", 1),
      ("<script><!--><script></script><b>", 1),
      ("<script><!---><script></script><b>", 1), ("<script><!--<scripty></script><b>", 1), ("<script><!--<script></script><b>", 0),
      ("<script>a<!b</script/><b>", 1), ("<script>", 0),
    ])
  func scripts(text: String, count: Int) {
    #expect(tags(text).count { $0 == "<b>" } == count, "\(tags(text))")
    #expect(!tags(text).contains("<i>"))
  }

  @Test("titles and style sheets end only at their own end tag")
  func raw() {
    #expect(tags("<title><i></titles></title x><b>") == ["<title>", "</title>", "<b>"])
    #expect(tags("<style></title></STYLE/><b>") == ["<style>", "</style>", "<b>"])
    #expect(tags("<plaintext></plaintext><i>") == ["<plaintext>"])
  }
}
