extension AppValues {
  /// XcodeGen's project.yml. All paths in it are relative to it.
  var spec: String {
    let quoted = JSON.quoted
    var lines = [
      "# Made by 'packer init --app'. In this folder, '\(command)' makes \(name).xcodeproj from it (XcodeGen 2.45 or newer).",
      "name: \(quoted(name))",
      "options:",
      "  minimumXcodeGenVersion: \"2.45.0\"",
      "  deploymentTarget:",
      "    iOS: \"\(deploymentTarget)\"",
      "",
      "settings:",
      "  base:",
      "    MARKETING_VERSION: \"1.0\"",
      "    CURRENT_PROJECT_VERSION: \"1\"",
      "    # The settings of a new project in Xcode 26.4, with Swift 6.",
      "    SWIFT_VERSION: \"6.0\"",
      "    SWIFT_DEFAULT_ACTOR_ISOLATION: MainActor",
      "    SWIFT_APPROACHABLE_CONCURRENCY: \"YES\"",
      "    SWIFT_UPCOMING_FEATURE_MEMBER_IMPORT_VISIBILITY: \"YES\"",
      "    # A device needs your team; the simulator does not.",
      "    CODE_SIGN_STYLE: Automatic",
      "    DEVELOPMENT_TEAM: \"\"",
      "",
      "packages:",
      "  packer:",
    ]
    switch package {
    case .directory(let path): lines += ["    path: \(quoted(path))"]
    case .repository(let url, let version): lines += ["    url: \(quoted(url))", "    from: \(quoted(version))"]
    }
    lines += [
      "",
      "targets:",
      "  \(quoted(name)):",
      "    type: application",
      "    platform: iOS",
      "    sources:",
      "      - App",
    ]
    if hosting == .unmanaged {
      lines += [
        "      - Shared",
        "      # The release, so that the first run needs no server. Only debug builds contain it.",
        "      - path: \(quoted(release))",
        "        type: folder",
        "        buildPhase: resources",
      ]
    } else {
      lines += [
        "      # The names of the packs.",
        "      - path: \(quoted("\(release)/\(ReleaseFile.manifest)"))",
        "        buildPhase: resources",
      ]
    }
    lines += [
      "    settings:",
      "      base:",
      "        PRODUCT_BUNDLE_IDENTIFIER: \(quoted(bundleID))",
      "        PRODUCT_MODULE_NAME: AppTarget",
      "        # Xcode adds the keys of a generated file to those of the release, which 'packer plist merge' writes.",
      "        INFOPLIST_FILE: App/Info.plist",
      "        GENERATE_INFOPLIST_FILE: \"YES\"",
      "        INFOPLIST_KEY_UIApplicationSceneManifest_Generation: \"YES\"",
      "        INFOPLIST_KEY_UILaunchScreen_Generation: \"YES\"",
      "        CODE_SIGN_ENTITLEMENTS: App/App.entitlements",
    ]
    if hosting == .unmanaged, let folder = PathParts(release)?.name {
      lines += ["      configs:", "        Release:", "          EXCLUDED_SOURCE_FILE_NAMES: \(quoted(folder))"]
    }
    lines += [
      "    dependencies:",
      "      # Embedded under ExtensionKit Extensions because of its type.",
      "      - target: Downloader",
      "      - package: packer",
      "        product: PackApp",
      "    scheme:",
      "      configVariants: []",
      "      # The key of the packs, for debug builds: the variable PACKER_KEY when xcodegen runs. It is then in the project that XcodeGen",
      "      # writes, which .gitignore leaves out.",
    ]
    if hasRootKey {
      lines.append("      # This is the root key: only for debug builds on your own devices. A released app gets the keys of its packs.")
    }
    lines += [
      "      environmentVariables:",
      "        PACKER_KEY: ${PACKER_KEY}",
      "",
      "  Downloader:",
      "    type: extensionkit-extension",
      "    platform: iOS",
      "    sources:",
      "      - Downloader",
    ]
    if hosting == .unmanaged { lines += ["      - Shared"] }
    lines += [
      "    settings:",
      "      base:",
      "        PRODUCT_BUNDLE_IDENTIFIER: \(quoted(bundleID + ".downloader"))",
      "        INFOPLIST_FILE: Downloader/Info.plist",
      "        CODE_SIGN_ENTITLEMENTS: Downloader/Downloader.entitlements",
      "        SKIP_INSTALL: \"YES\"",
    ]
    // Apple's own extension needs nothing of the package.
    if hosting != .apple {
      lines += ["    dependencies:", "      - package: packer", "        product: PackBackground"]
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
