/// Texts with made-up secrets of all kinds, assembled from parts so that no text of this file looks like one.
enum SecretCases {
  /// Letters and digits in an order that looks random, the same each time.
  static func noise(_ count: Int, _ alphabet: String, salt: UInt64 = 1) -> String {
    let letters = Array(alphabet)
    var state = salt &* 0x9E37_79B9_7F4A_7C15 | 1
    return String(
      (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return letters[Int((state >> 33) % UInt64(letters.count))]
      })
  }

  static let lower = "abcdefghijklmnopqrstuvwxyz"
  static let upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
  static let digit = "0123456789"
  static let letters = lower + upper + digit
  static let hexDigits = digit + "abcdef"
  static let base32 = upper + "234567"
  static let base64 = letters + "+/"
  static let url = letters + "-_"

  static func hex(_ count: Int, salt: UInt64 = 1) -> String { noise(count, hexDigits, salt: salt) }
  static func word(_ count: Int, salt: UInt64 = 1) -> String { noise(count, letters, salt: salt) }

  /// The label of a key in PEM form, which no line of this file contains.
  static func label(_ kind: String, _ edge: String = "BEGIN") -> String { "-----\(edge) \(kind)-----" }

  static func pem(_ kind: String, lineEnd: String = "\n", fields: String = "") -> String {
    let lines = (0..<4).map { noise(64, base64, salt: UInt64($0 + 7)) }
    return label(kind) + lineEnd + fields + lines.map { $0 + lineEnd }.joined() + label(kind, "END") + lineEnd
  }

  /// A document, and the rule that finds a secret in it.
  static let all: [(rule: String, text: String)] = keys + clouds + forges + services + messages

  static let keys: [(rule: String, text: String)] = [
    ("private-key", "first line\n" + pem("PRIVATE KEY")),
    ("private-key", "cert\r\n" + pem("RSA PRIVATE KEY", lineEnd: "\r\n")),
    ("private-key", "x " + pem("EC PRIVATE KEY")),
    ("private-key", "\n\n" + pem("OPENSSH PRIVATE KEY")),
    ("private-key", "a\n" + pem("DSA PRIVATE KEY", fields: "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,\(hex(32))\n\n")),
    ("private-key", "a\n" + pem("PGP PRIVATE KEY BLOCK", fields: "Version: GnuPG v2\n\n")),
    ("private-key", "{\"type\": \"x\", \"key\": \"" + pem("PRIVATE KEY", lineEnd: "\\n") + "\"}"),
    ("private-key", "const p8 = \"\(label("PRIVATE KEY"))\" +\n  \"\(noise(64, base64))\" +\n  \"\(noise(64, base64, salt: 3))\""),
    ("ssh-private-key", "notes\nPuTTY-User-Key" + "-File-3: ssh-ed25519\n"),
    ("ssh-private-key", "notes\n---- BEGIN SSH2 " + "ENCRYPTED PRIVATE KEY ----\n"),
    ("age-secret-key", "# created\nAGE-SECRET" + "-KEY-1" + noise(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    ("packer-content-key", "key: pk" + "k1-" + hex(64)),
    ("packer-recipient-key", "review: pk" + "x1-" + hex(64)),
    ("packer-signing-key", "KEY='pk" + "s1-" + hex(64) + "'"),
    ("packer-root-signing-key", "{\"root\":\"pk" + "t1-" + hex(64) + "\"}"),
  ]

  static let clouds: [(rule: String, text: String)] = [
    ("aws-access-key", "aws_access_key_id = AK" + "IA" + noise(16, base32)),
    ("aws-access-key", "{\"id\":\"AS" + "IA" + noise(16, base32, salt: 5) + "\"}"),
    ("aws-access-key", "\"a\\nAK" + "IA" + noise(16, base32, salt: 9) + "\\n\""),
    ("aws-secret-key", "aws_secret_access_key = " + noise(40, base64)),
    ("aws-secret-key", "{secretAccessKey: '" + noise(40, base64, salt: 4) + "'}"),
    ("aws-bedrock-key", "token=AB" + "SK" + noise(120, letters) + "=="),
    ("gcp-api-key", "apiKey: \"AI" + "za" + noise(35, url) + "\","),
    ("gcp-api-key", "https://maps.example.net/js?key=AI" + "za" + word(35, salt: 2) + "&v=3"),
    (
      "gcp-service-account",
      "{\n  \"type\": \"service_account\",\n  \"project_id\": \"game\",\n  \"private_key_id\": \"\(hex(40))\",\n  \"private_key\": \"\"\n}"
    ),
    ("gcp-client-secret", "secret=GOC" + "SPX-" + noise(28, url)),
    ("fcm-server-key", "key=AAAA" + noise(7, url) + ":APA" + "91b" + noise(134, url)),
    ("azure-storage-key", "DefaultEndpointsProtocol=https;AccountName=game;Account" + "Key=" + noise(86, base64) + "==;"),
    ("azure-shared-key", "SharedAccessKeyName=root;SharedAccess" + "Key=" + noise(43, base64) + "="),
    ("digitalocean-token", "dop" + "_v1_" + hex(64)),
    ("digitalocean-token", "TOKEN=doo" + "_v1_" + hex(64, salt: 3)),
    ("alibaba-access-key", "'LT" + "AI" + word(20) + "'"),
    ("heroku-key", "HRKU" + "-AA" + noise(58, letters)),
    ("databricks-token", "da" + "pi" + hex(32)),
    ("supabase-token", "sb" + "p_" + hex(40)),
    ("planetscale-token", "pscale" + "_tkn_" + word(43)),
    ("vault-token", "hv" + "s." + noise(95, letters)),
    ("terraform-token", word(14) + ".atlas" + "v1." + word(67)),
    ("doppler-token", "dp" + ".pt." + word(43)),
    ("pulumi-token", "pu" + "l-" + hex(40)),
  ]

  static let forges: [(rule: String, text: String)] = [
    ("github-token", "git clone https://gh" + "p_" + word(36) + "@github.com/a/b"),
    ("github-token", "GITHUB_TOKEN=gh" + "o_" + word(36, salt: 2)),
    ("github-token", "token: gh" + "s_" + word(36, salt: 3) + "\r\n"),
    ("github-token", "\"gh" + "r_" + word(76, salt: 4) + "\""),
    ("github-fine-grained-token", "github" + "_pat_" + word(22) + "_" + word(59)),
    ("gitlab-token", "PRIVATE-TOKEN: gl" + "pat-" + word(20)),
    ("gitlab-token", "gl" + "dt-" + word(20)),
    ("gitlab-token", "gl" + "pat-" + word(27) + ".01." + word(9, salt: 6)),
    ("gitlab-runner-token", "GR13" + "48941" + word(20)),
    ("npm-token", "//registry.npmjs.org/:_authToken=np" + "m_" + word(36)),
    ("pypi-token", "password = pyp" + "i-AgEIcHlwaS5vcmc" + noise(150, url)),
    ("rubygems-token", "ruby" + "gems_" + hex(48)),
    ("postman-key", "PM" + "AK-" + hex(24) + "-" + hex(34)),
    ("linear-key", "lin" + "_api_" + word(40)),
    ("grafana-token", "gl" + "sa_" + word(32) + "_" + hex(8)),
    ("figma-token", "fi" + "gd_" + word(40)),
    ("sentry-token", "sn" + "tryu_" + hex(64)),
  ]

  static let services: [(rule: String, text: String)] = [
    ("stripe-secret-key", "stripe('sk" + "_live_" + word(24) + "')"),
    ("stripe-secret-key", "rk" + "_live_" + word(99)),
    ("stripe-webhook-secret", "wh" + "sec_" + word(32)),
    ("square-token", "sq0" + "atp-" + word(22)),
    ("shopify-token", "shp" + "at_" + hex(32)),
    ("shopify-token", "shp" + "ss_" + hex(32, salt: 2)),
    ("easypost-key", "EZ" + "AK" + word(54)),
    ("newrelic-key", "NR" + "AK-" + noise(27, upper + digit)),
    ("openai-key", "OPENAI_API_KEY=s" + "k-" + word(20) + "T3Bl" + "bkFJ" + word(20, salt: 2)),
    ("openai-key", "'s" + "k-proj-" + noise(74, url) + "T3Bl" + "bkFJ" + noise(74, url, salt: 2) + "'"),
    ("anthropic-key", "key: sk" + "-ant-api03-" + noise(93, url) + "AA"),
    ("perplexity-key", "pp" + "lx-" + word(48)),
    ("huggingface-token", "h" + "f_" + noise(34, lower + upper)),
    ("huggingface-token", "token = \"h" + "f_" + noise(34, lower + upper, salt: 8) + "\""),
  ]

  static let messages: [(rule: String, text: String)] = [
    ("slack-token", "xo" + "xb-" + noise(12, digit) + "-" + noise(12, digit) + "-" + word(24)),
    ("slack-token", "'xo" + "xp-1" + noise(11, digit) + "-" + noise(12, digit) + "-" + noise(12, digit) + "-" + hex(32) + "'"),
    ("slack-token", "xa" + "pp-1-A" + noise(10, upper) + "-" + noise(13, digit) + "-" + hex(64)),
    ("slack-webhook", "https://hooks" + ".slack.com/services/T" + noise(10, upper) + "/B" + noise(10, upper) + "/" + word(24)),
    ("discord-bot-token", "discord.login('MT" + word(24) + "." + word(6) + "." + word(38) + "')"),
    ("discord-bot-token", "Authorization: \"Bot Nz" + word(22) + "." + word(6) + "." + word(27) + "\""),
    ("discord-webhook", "https://discord.com/api" + "/webhooks/1" + noise(18, digit) + "/" + noise(68, url)),
    ("telegram-bot-token", "https://api.telegram.org/bot1" + noise(9, digit) + ":A" + "A" + noise(33, url) + "/getMe"),
    ("telegram-bot-token", "TOKEN=8" + noise(8, digit) + ":A" + "A" + word(33)),
    ("twilio-key", "sid: 'S" + "K" + hex(32) + "'"),
    ("twilio-key", "TWILIO_KEY=S" + "K" + hex(32, salt: 2)),
    ("sendgrid-key", "S" + "G." + noise(22, url) + "." + noise(43, url)),
    ("sendgrid-key", "apiKey: 'S" + "G." + word(22) + "." + word(43) + "'"),
    ("mailgun-key", "mailgun({apiKey: 'key" + "-" + hex(32) + "'})"),
    ("brevo-key", "xkey" + "sib-" + hex(64) + "-" + word(16)),
  ]

  /// Texts that resemble secrets and are none.
  static let harmless: [(name: String, text: String)] = [
    ("the example key of AWS", "aws_access_key_id = AK" + "IAIOSFODNN7EXAMPLE"),
    ("the example secret of AWS", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE" + "KEY"),
    ("a token of one letter", "gh" + "p_" + String(repeating: "x", count: 36)),
    ("a token to be filled in", "xo" + "xb-your-token-here-please-and-thanks"),
    ("a webhook to be filled in", "https://hooks" + ".slack.com/services/T00000000/B00000000/" + String(repeating: "X", count: 24)),
    ("a public key", label("PUBLIC KEY") + "\n" + noise(64, base64) + "\n" + label("PUBLIC KEY", "END")),
    ("a certificate", label("CERTIFICATE") + "\n" + noise(64, base64) + "\n" + label("CERTIFICATE", "END")),
    ("a reader of keys", "if(t.indexOf(\"\(label("RSA PRIVATE KEY"))\")!=-1){return readPrivateKeyFromPKCS8String(t)}"),
    ("labels in a list", "[\"\(label("RSA PRIVATE KEY"))\",\"\(label("RSA PRIVATE KEY", "END"))\"]"),
    ("a public key of packer", "trust: [pk" + "p1-" + hex(64) + "]"),
    ("a placeholder for a key of packer", "pk" + "k1-0000000000000000000000000000000000000000000000000000000000000000"),
    ("a longer word", "var MAKIA" + noise(16, base32) + " = 1"),
    ("a hash", "integrity: sha512-" + noise(86, base64) + "=="),
    ("a lock file", "\"resolved\": \"https://registry.npmjs.org/a/-/a-1.0.tgz\", \"integrity\": \"sha1-" + noise(27, base64) + "=\""),
    ("an image in a style", "url(data:image/png;base64,iVBORw0KGgo" + noise(4000, base64) + "=)"),
    ("the middle of base64", noise(40, base64) + "AI" + "za" + noise(300, base64)),
    ("a class name", "class=\"sk-circle-fade-dot sk-live_preview hf_button glc_layer\""),
    ("an npm script", "\"npm_config_registry\": \"npm_package_name\", npm_lifecycle_event_of_the_package_manager_run"),
    ("an account id of Twilio", "sid: 'A" + "C" + hex(32) + "'"),
    ("a publishable key", "Stripe('pk" + "_live_" + word(24) + "')"),
    ("a UUID", "key-6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ("minified code", "for(e=t>>>0,n=0;n<<<r;)hf_(SK1,SG.x.y),AIza=AKIA;discord:0"),
    ("a score table", "score:AAAA,12345678:AA,record,discovery.Bot Mode"),
    ("a service account's name", "auth(\"service_account\")"),
  ]
}
