extension ManifestPack {
  /// The pack on the page. Sizes are in bytes; those of files and the rest add up to that of the pack.
  ///
  /// - Parameters:
  ///   - list: its files; nil if they are not known.
  ///   - note: why they are not known.
  func reportValue(_ list: FileList?, _ note: String?) -> JSON {
    .sorted([
      "id": .text(id), "version": .number(version), "delivery": .text(delivery.rawValue), "install": .text(install.rawValue),
      "platforms": .texts(platforms), "languages": .texts(language.map { [$0] } ?? []), "size": .number(size),
      "sizeOnDevice": .number(sizeOnDevice), "contentSize": .number(contentSize), "rest": .number(list?.restSize), "base": .text(basePack),
      "note": .text(note), "files": list?.reportValue,
    ])
  }
}

extension FileList {
  /// The files in four columns. A path is the first components of the path before it, and a tail.
  fileprivate var reportValue: JSON {
    var (shared, tails): ([JSON], [JSON]) = ([], [])
    var (sizes, packed): ([JSON], [JSON]) = ([], [])
    var before: [Substring] = []
    for item in files {
      let parts = item.path.split(separator: "/", omittingEmptySubsequences: false)
      // Never the whole path before it.
      let same = zip(before.dropLast(), parts.dropLast()).prefix { $0 == $1 }.count
      shared.append(.number(UInt64(same)))
      tails.append(.text(parts[same...].joined(separator: "/")))
      sizes.append(.number(item.size))
      packed.append(.number(item.packedSize ?? 0))
      before = parts
    }
    return .sorted(["shared": .list(shared), "tails": .list(tails), "sizes": .list(sizes), "packed": .list(packed)])
  }
}

extension Advice {
  var reportValue: JSON {
    .sorted([
      "title": .text(text), "text": .text(remedy), "pack": .text(packs.joined(separator: ", ")),
      "bytes": kind.isSaving ? .number(bytes) : nil,
    ])
  }
}

extension ReleaseUpdate {
  var reportValue: JSON {
    let packs = packs.map { pack -> JSON in
      .sorted([
        "id": .text(pack.id), "size": .number(pack.size), "packSize": .number(pack.packSize), "isDelta": .flag(pack.isDelta),
        "isNew": .flag(pack.isNew),
      ])
    }
    return .sorted([
      "manifest": .number(manifest), "size": .number(size), "sizeWithApp": .number(sizeWithApp), "packSize": .number(packSize),
      "packs": .list(packs),
    ])
  }
}

extension ReleaseReport {
  /// The findings, and which rules were not checked.
  var reportValue: JSON {
    let unchecked = rules.filter { !$0.missing.isEmpty }.map { outcome -> JSON in
      .sorted(["rule": .text(outcome.rule.id), "missing": .texts(outcome.missing.map(\.rawValue))])
    }
    return .sorted([
      "summary": .text(summary ?? "no findings"), "rules": .number(UInt64(rules.count)), "notChecked": .list(unchecked),
      "findings": .list(findings.map(\.reportValue)),
    ])
  }
}

extension ReleaseFinding {
  fileprivate var reportValue: JSON {
    .sorted([
      "rule": .text(rule.id), "level": .text(level.rawValue), "title": .text(rule.title), "message": .text(message),
      "onPhone": .text(phone?.meaning ?? rule.onPhone), "remedy": .text(rule.remedy), "hint": .text(hint), "pack": .text(pack),
      "file": .text(file.map { name in line.map { "\(name):\($0)" } ?? name }), "accepted": .flag(isAccepted),
      "acceptedBecause": .text(acceptedBecause), "details": .texts(details),
    ])
  }
}

extension LoadRun.Pack {
  var reportValue: JSON {
    let requests = requests.prefix(1000).map { request -> JSON in
      .sorted([
        "milliseconds": .number(request.milliseconds), "path": .text(request.path), "status": .number(request.status),
        "size": .number(request.size),
      ])
    }
    let missing = missing.map { JSON.sorted(["path": .text($0.path), "near": .text($0.near)]) }
    let foreign = foreign.map { JSON.sorted(["url": .text($0.url), "directive": .text($0.directive)]) }
    let problems = problems.map { JSON.sorted(["text": .text($0.text), "place": .text($0.place)]) }
    let unusedFiles = (unused ?? []).map { JSON.sorted(["path": .text($0.path), "size": .number($0.size)]) }
    return .sorted([
      "pack": .text(id), "files": .number(files), "used": .number(files.map { $0 - min($0, unused?.count ?? 0) }),
      "requestCount": .number(UInt64(requestCount)), "sentSize": .number(sentSize), "requests": .list(requests), "missing": .list(missing),
      "foreign": .list(foreign), "problems": .list(problems), "unused": .list(unusedFiles),
    ])
  }
}
