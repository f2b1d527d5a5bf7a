/// A kind of secret that is recognised by its form, wherever it is in a file.
///
/// Which kinds there are, and their forms, follow the rules of gitleaks (config/gitleaks.toml). Kinds that only the words around them identify are
/// left out, because games contain many random texts. So are JSON Web Tokens and Google's client ids, most of which are public.
package struct SecretRule: Sendable {
  /// The name of the rule in messages and in packer.yml.
  package let id: String
  /// What it finds, with its article.
  package let what: String
  let form: Form
  /// The fixed texts that the form contains, each with the position of the four bytes that are searched for.
  let literals: [Literal]

  struct Literal: Sendable {
    let bytes: [UInt8]
    /// Where the four bytes start that the scanner searches for. It is fast if neither the first nor the last three of them are common in texts.
    let anchor: Int

    /// - Parameter text: the literal, with brackets around the four bytes unless they are the first.
    init(_ text: String) {
      let brackets = text.utf8.firstIndex(of: UInt8(ascii: "["))
      bytes = text.utf8.filter { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
      anchor = brackets.map { text.utf8.distance(from: text.utf8.startIndex, to: $0) } ?? 0
      precondition(anchor + 4 <= bytes.count, "a literal of fewer than four bytes")
    }
  }

  enum Form: Sendable {
    /// The literal, then as many characters of the set, of which so many are different.
    case token(ByteSet, ClosedRange<Int>, variety: Int)
    /// A token that starts with a letter or digit after a short literal, which starts with one byte that only separates.
    case separated(ByteSet, ClosedRange<Int>, variety: Int)
    /// A form that has a function of its own.
    case special(Special)
  }

  enum Special: Sendable {
    case privateKey, sshPrivateKey, serviceAccount, serverKey, awsSecretKey, slackToken, slackWebhook, sendGrid, openAI
    case discordToken, discordHeader, discordWebhook, telegram, mailgun, terraform, teamsWebhook
  }

  init(
    _ id: String, _ what: String, _ literals: [String], _ set: ByteSet, _ counts: ClosedRange<Int>, variety: Int = 8
  ) {
    self.init(id, what, literals, .token(set, counts, variety: variety))
  }

  init(_ id: String, _ what: String, _ literals: [String], _ special: Special) {
    self.init(id, what, literals, .special(special))
  }

  init(_ id: String, _ what: String, _ literals: [String], _ form: Form) {
    self.id = id
    self.what = what
    self.form = form
    self.literals = literals.map { Literal($0) }
  }

  /// Returns texts with each of the bytes before them that can separate a token from what precedes it.
  private static func separated(_ texts: [String]) -> [String] {
    texts.flatMap { text in ["\"", "'", "`", "=", ":", " ", "\n", "\t", ">", "(", ","].map { $0 + text } }
  }
}

extension SecretRule {
  /// The id under which a file is allowed whose name is that of a secret.
  package static let fileName = "file-name"
  /// The id under which a file is allowed that starts like a key.
  package static let keyFile = "key-file"

  /// The ids of the rules that find keys of packer.
  package static let own: Set<String> = [
    "packer-content-key", "packer-recipient-key", "packer-signing-key", "packer-root-signing-key",
  ]

  /// Says that a file contains it, at a place.
  package func finding(at place: LinePlace) -> String { "contains what looks like \(what) in \(place) (\(id))" }

  /// All rules.
  package static let all: [SecretRule] = keys + clouds + forges + services + messages

  private static let keys: [SecretRule] = [
    SecretRule("private-key", "a private key", ["----[-BEG]IN "], .privateKey),
    SecretRule(
      "ssh-private-key", "a private SSH key", ["PuTTY-User-Key-File-", "---- BEGIN [SSH2] ENCRYPTED PRIVATE KEY"], .sshPrivateKey),
    SecretRule("age-secret-key", "a private age key", ["AGE[-SEC]RET-KEY-1"], .upperAndDigits, 58...58, variety: 12),
    SecretRule("packer-content-key", "a content key of packer", ["p[kk1-]"], .hex, 64...64),
    SecretRule("packer-recipient-key", "a recipient's secret key of packer", ["p[kx1-]"], .hex, 64...64),
    SecretRule("packer-signing-key", "a signing key of packer", ["p[ks1-]"], .hex, 64...64),
    SecretRule("packer-root-signing-key", "a root signing key of packer", ["p[kt1-]"], .hex, 64...64),
  ]

  private static let clouds: [SecretRule] = [
    SecretRule("aws-access-key", "an AWS access key", ["AKIA", "ASIA", "ABIA", "ACCA"], .upperAndDigits, 16...16),
    SecretRule("aws-secret-key", "an AWS secret key", ["re[t_ac]cess_key", "RE[T_AC]CESS_KEY"], .awsSecretKey),
    SecretRule("aws-secret-key", "an AWS secret key", ["re[tAcc]essKey"], .awsSecretKey),
    SecretRule("aws-bedrock-key", "an AWS Bedrock key", ["ABSK"], .base64, 109...269, variety: 16),
    SecretRule("gcp-api-key", "a Google API key", ["AIza"], .base64URL, 35...35, variety: 12),
    SecretRule("gcp-service-account", "a Google service account", ["servic[e_ac]count\""], .serviceAccount),
    SecretRule("gcp-client-secret", "a Google client secret", ["GOCSPX-"], .base64URL, 28...28, variety: 10),
    SecretRule("fcm-server-key", "a Firebase server key", [":[APA9]1b"], .serverKey),
    SecretRule("azure-storage-key", "an Azure storage key", ["[Acco]untKey="], .base64, 86...86, variety: 16),
    SecretRule("azure-shared-key", "an Azure shared access key", ["Shar[edAc]cessKey="], .base64, 43...43, variety: 14),
    SecretRule(
      "digitalocean-token", "a DigitalOcean token", ["do[p_v1]_", "do[o_v1]_", "do[r_v1]_"], .hex, 64...64),
    SecretRule("alibaba-access-key", "an Alibaba access key", ["LTAI"], .alphanumeric, 20...20, variety: 10),
    SecretRule("heroku-key", "a Heroku key", ["HRKU-AA"], .base64URL, 58...58, variety: 14),
    SecretRule("databricks-token", "a Databricks token", ["dapi"], .hex, 32...32),
    SecretRule("fly-token", "a Fly.io token", ["fo1_"], .base64URL, 43...43, variety: 14),
    SecretRule("fly-token", "a Fly.io token", ["fm1a_", "fm1r_", "fm2_"], .base64, 100...2000, variety: 20),
    SecretRule(
      "planetscale-token", "a PlanetScale token", ["pscal[e_tk]n_", "pscal[e_oa]uth_", "pscal[e_pw]_"], .dotted, 32...64, variety: 12),
    SecretRule("supabase-token", "a Supabase token", ["sbp_"], .hex, 40...40),
    SecretRule("vault-token", "a Vault token", ["hvs.", "hvb."], .base64URL, 90...300, variety: 16),
    SecretRule("terraform-token", "a Terraform token", [".at[lasv]1."], .terraform),
    SecretRule("doppler-token", "a Doppler token", ["dp.pt."], .alphanumeric, 43...43, variety: 12),
    SecretRule("pulumi-token", "a Pulumi token", ["pul-"], .hex, 40...40),
    SecretRule("dynatrace-token", "a Dynatrace token", ["dt0c01."], .dotted, 89...89, variety: 16),
  ]

  private static let forges: [SecretRule] = [
    SecretRule("github-token", "a GitHub token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], .alphanumeric, 36...255, variety: 10),
    SecretRule("github-fine-grained-token", "a GitHub token", ["githu[b_pa]t_"], .word, 82...82, variety: 16),
    SecretRule(
      "gitlab-token", "a GitLab token",
      ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "gl[imt-]", "gl[oas-]", "glsoat-", "glffct-"],
      .dotted, 20...320, variety: 10),
    SecretRule("gitlab-runner-token", "a GitLab runner token", ["GR1348941"], .base64URL, 20...20, variety: 8),
    SecretRule("npm-token", "an npm token", ["npm_"], .alphanumeric, 36...36, variety: 10),
    SecretRule("pypi-token", "a PyPI token", ["pypi-AgEIcHlwaS5vcmc"], .base64URL, 50...1000, variety: 16),
    SecretRule("rubygems-token", "a RubyGems token", ["ru[byge]ms_"], .hex, 48...48),
    SecretRule("artifactory-key", "an Artifactory key", ["AKCp"], .alphanumeric, 69...69, variety: 20),
    SecretRule("atlassian-token", "an Atlassian token", ["ATATT3"], .base64URL.union("="), 100...400, variety: 20),
    SecretRule("postman-key", "a Postman key", ["PMAK-"], .dashed, 59...59),
    SecretRule("netlify-token", "a Netlify token", ["nfp_"], .alphanumeric, 36...36, variety: 10),
    SecretRule("figma-token", "a Figma token", ["f[igd_]"], .base64URL, 38...60, variety: 12),
    SecretRule("linear-key", "a Linear key", ["li[n_ap]i_"], .alphanumeric, 40...40, variety: 12),
    SecretRule("notion-token", "a Notion token", ["ntn_"], .alphanumeric, 46...46, variety: 12),
    SecretRule("sentry-token", "a Sentry token", ["snt[rys_]"], .base64.union("=_"), 60...1000, variety: 16),
    SecretRule("sentry-token", "a Sentry token", ["snt[ryu_]"], .hex, 64...64),
    SecretRule("grafana-token", "a Grafana token", ["glsa_"], .word, 41...41, variety: 12),
    SecretRule("grafana-token", "a Grafana token", ["glc_"], .base64, 32...400, variety: 12),
    SecretRule("onepassword-token", "a 1Password token", ["op[s_ey]J"], .base64, 250...4000, variety: 20),
  ]

  private static let services: [SecretRule] = [
    SecretRule(
      "stripe-secret-key", "a Stripe secret key", ["s[k_li]ve_", "r[k_li]ve_", "s[k_te]st_", "r[k_te]st_", "s[k_pr]od_", "r[k_pr]od_"],
      .alphanumeric, 16...260, variety: 8),
    SecretRule("stripe-webhook-secret", "a Stripe webhook secret", ["whsec_"], .base64, 32...64, variety: 12),
    SecretRule("square-token", "a Square token", ["sq0atp-", "sq0csp-"], .base64URL, 22...60, variety: 10),
    SecretRule("shopify-token", "a Shopify token", ["shpat_", "shpca_", "shppa_", "shpss_"], .hex, 32...32),
    SecretRule("shippo-token", "a Shippo token", ["ship[po_l]ive_", "ship[po_t]est_"], .hex, 40...40),
    SecretRule("easypost-key", "an EasyPost key", ["EZAK", "EZTK"], .alphanumeric, 54...54, variety: 14),
    SecretRule("newrelic-key", "a New Relic key", ["NRAK-"], .alphanumeric, 27...27, variety: 8),
    SecretRule("openai-key", "an OpenAI key", ["T3[Blbk]FJ"], .openAI),
    SecretRule("anthropic-key", "an Anthropic key", ["sk-ant-api", "sk-ant-admin"], .base64URL, 60...200, variety: 16),
    SecretRule("perplexity-key", "a Perplexity key", ["pplx-"], .alphanumeric, 48...48, variety: 14),
    SecretRule("huggingface-token", "a Hugging Face token", separated(["hf_"]), .separated(.alphanumeric, 34...40, variety: 12)),
  ]

  private static let messages: [SecretRule] = [
    SecretRule(
      "slack-token", "a Slack token", ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.", "xa[pp-1]-"], .slackToken),
    SecretRule("slack-webhook", "a Slack webhook", ["hooks.sla[ck.c]om/"], .slackWebhook),
    SecretRule("discord-bot-token", "a Discord bot token", ["iscord", "ISCORD"], .discordToken),
    SecretRule("discord-bot-token", "a Discord bot token", ["\"Bot ", "'Bot ", "`Bot ", " Bot "], .discordHeader),
    SecretRule("discord-webhook", "a Discord webhook", ["/ap[i/we]bhooks/"], .discordWebhook),
    SecretRule("teams-webhook", "a Teams webhook", [".we[bhoo]k.office.com/webhookb2/"], .teamsWebhook),
    SecretRule("telegram-bot-token", "a Telegram bot token", (0...9).map { "\($0):AA" }, .telegram),
    SecretRule(
      "twilio-key", "a Twilio key", separated("0123456789abcdefABCDEF".map { "SK\($0)" }), .separated(.hex, 32...32, variety: 8)),
    SecretRule("sendgrid-key", "a SendGrid key", separated(["SG."]), .sendGrid),
    SecretRule("mailgun-key", "a Mailgun key", ["a[ilgu]n", "A[ILGU]N"], .mailgun),
    SecretRule("brevo-key", "a Brevo key", ["xk[eysi]b-"], .dashed, 81...81),
  ]
}
