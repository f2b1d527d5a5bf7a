/// A folder with the sources of a web app, and where its built files are.
enum WebProject {
  /// The folder with the files to ship.
  case built(String)
  /// There is none yet. The text says why, for a person.
  case unbuilt(String)

  static let remedy = "build it first, for example with: npm install && npm run build"
  private static let bundlers = [
    "vite.config.", "webpack.config.", "webpack.common.", "rollup.config.", "snowpack.config.", "vue.config.", "svelte.config.",
    "astro.config.", "next.config.", "quasar.config.", "esbuild.config.", "angular.json", ".parcelrc",
  ]
  private static let bundlersInScripts = [
    "vite", "webpack", "rollup", "parcel", "react-scripts", "ng build", "esbuild", "vue-cli-service", "snowpack", "parcel-bundler",
  ]
  private static let pages = ["index.html", "index.htm"]

  /// Examines a folder; nil if it is no project, or one whose page needs no build.
  ///
  /// - Parameters:
  ///   - folder: the path of the folder; empty for the directory that is scanned.
  ///   - names: the names of its files.
  ///   - pages: the folders with an index.html, at any place.
  ///   - read: returns the text of a small file; nil if it cannot be read.
  init?(_ folder: String, names: Set<String>, pages: Set<String>, read: (String) -> String?) {
    func path(_ name: String) -> String { folder.isEmpty ? name : name.isEmpty ? folder : "\(folder)/\(name)" }
    /// Returns the one topmost folder with a page in a folder.
    func page(in name: String) -> String? {
      let place = path(Self.normalized(name))
      if pages.contains(place) { return place }
      let inside = pages.filter { $0.hasPrefix(place + "/") }
      let topmost = inside.filter { page in !inside.contains { page.hasPrefix($0 + "/") } }
      return topmost.count == 1 ? topmost.first : nil
    }
    if let name = names.sorted().first(where: { $0.hasPrefix("capacitor.config.") }) {
      let stated = read(path(name)).flatMap { Self.value("webDir", in: $0) } ?? "www"
      if let found = page(in: stated) {
        self = .built(found)
      } else {
        self = .unbuilt("\(path(name)) names the folder \(stated), which has no index.html")
      }
      return
    }
    if names.contains("config.xml"), read(path("config.xml"))?.contains("<widget") == true {
      if let found = page(in: "www") {
        self = .built(found)
      } else {
        self = .unbuilt("\(path("config.xml")) is of a Cordova app, whose folder www has no index.html")
      }
      return
    }
    let package = names.contains("package.json") ? read(path("package.json")) : nil
    let settings = names.sorted().first(where: Self.isSettings)
    let scripts = package.flatMap(Self.buildScript)
    // A script of its own may start the bundler.
    let isBundled = Self.bundlersInScripts.contains { scripts?.contains($0) == true || package?.contains("\"\($0)\"") == true }
    let bundler = settings ?? (isBundled ? "package.json" : nil)
    var candidates = ["dist", "build", "www"]
    if bundler != nil || scripts != nil { candidates += ["out", "output"] }
    if bundler == nil, package != nil { candidates.append("public") }
    if let settings, let text = read(path(settings)), let stated = Self.value("outDir", in: text) { candidates.insert(stated, at: 0) }
    // Without a page of its own, the folder may hold several projects.
    let ownsPage = ["", "src", "public", "app"].contains { pages.contains(path($0)) }
    let isProject = package != nil || bundler != nil || !names.isDisjoint(with: ["Gruntfile.js", "gulpfile.js", "Makefile", "bower.json"])
    for name in candidates where isProject {
      if let found = page(in: name) {
        self = .built(found)
        return
      }
    }
    guard let bundler, ownsPage else { return nil }
    // A page with scripts that were built into its own folder is complete.
    if pages.contains(folder), let text = Self.pages.compactMap({ names.contains($0) ? read(path($0)) : nil }).first,
      candidates.contains(where: { text.contains("\"\($0)/") || text.contains("'\($0)/") || text.contains("\"./\($0)/") })
    {
      return nil
    }
    self = .unbuilt("\(path(bundler)) describes a build, and there is no index.html in \(candidates[0]) or a similar folder")
  }

  /// Whether a file has the name of the settings of a program that builds web apps.
  static func isSettings(_ name: String) -> Bool { bundlers.contains { name.hasPrefix($0) } }

  /// Returns a path without `./` at its start and a slash at its end.
  private static func normalized(_ path: String) -> String {
    ProposalRule.components(of: path).filter { $0 != "." && $0 != ".." }.joined(separator: "/")
  }

  /// Returns the text that a configuration in JSON or JavaScript has for a key.
  private static func value(_ key: String, in text: String) -> String? {
    var rest = text[...]
    while let found = rest.firstRange(of: key) {
      rest = rest[found.upperBound...]
      if let match = rest.prefixMatch(of: /["']?\s*:\s*["'`]([^"'`\n]+)["'`]/) { return String(match.1) }
    }
    return nil
  }

  /// Returns the script that builds the project, if package.json has one.
  private static func buildScript(_ package: String) -> String? { value("\"build", in: package) ?? value("\"build:prod", in: package) }
}
