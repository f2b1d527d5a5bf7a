extension PageFolder: ManifestPages {
  package func lookup(_ ids: [String], in manifest: Manifest) throws(PackError) -> PageLookup {
    let search = PageSearch(manifest)
    var lookup = PageLookup()
    do throws(PackError) {
      lookup.add(try search.lookUp(Set(ids), in: intact))
    } catch {
      guard Self.isAboutPage(error) else { throw error }
      // Each by itself, because a page that breaks a rule must not hold up packs in others.
      lookup = PageLookup()
      for id in ids.sorted() {
        do throws(PackError) {
          lookup.add(try search.lookUp([id], in: intact))
        } catch {
          guard Self.isAboutPage(error) else { throw error }
          lookup.unknown.insert(id)
          lookup.refusal = lookup.refusal ?? error
        }
      }
    }
    return lookup
  }

  package func updates(to ids: [String], in manifest: Manifest) throws(PackError) -> UpdateLookup {
    let search = PageSearch(manifest)
    do throws(PackError) {
      return try search.updates(to: Set(ids), in: intact)
    } catch {
      guard Self.isAboutPage(error) else { throw error }
      var lookup = UpdateLookup()
      for id in ids.sorted() {
        do throws(PackError) {
          let one = try search.updates(to: [id], in: intact)
          lookup.deltas.merge(one.deltas) { $1 }
          lookup.unknown.formUnion(one.unknown)
          lookup.missing += one.missing.filter { !lookup.missing.contains($0) }
        } catch {
          guard Self.isAboutPage(error) else { throw error }
          lookup.refusal = lookup.refusal ?? error
        }
      }
      return lookup
    }
  }

  package func take(_ bytes: [UInt8], as reference: PageReference) throws(PackError) -> PackError? {
    do throws(PackError) {
      try keep(bytes, as: reference)
      return nil
    } catch {
      guard error.code == .wrongPage else { throw error }
      return error
    }
  }

  /// Returns the packs and the tags that the pages in the folder list. Missing pages are passed over. A page that breaks a rule ends the reading of its
  /// kind.
  package func listed(by manifest: Manifest) throws(PackError) -> (packs: [ManifestPack], tags: [PagePair]) {
    var (packs, tags): ([ManifestPack], [PagePair]) = ([], [])
    for kind in [PageKind.packs, .tags] {
      do throws(PackError) {
        _ = try PageSearch(manifest).all(kind, in: intact) { content in
          switch content {
          case .packs(let listed): packs += listed
          case .tags(let pairs): tags += pairs
          case .updates, .index: break
          }
        }
      } catch {
        guard Self.isAboutPage(error) else { throw error }
      }
    }
    return (packs, tags)
  }

  private static func isAboutPage(_ error: PackError) -> Bool { error.code == .damagedManifest || error.code == .unsupported }

  /// Removes all pages that none of the manifests names, itself or in an index page that is here.
  package func free(exceptThoseOf manifests: [Manifest]) throws(PackError) {
    var names: Set<String> = []
    for manifest in manifests { names.formUnion(try PageSearch(manifest).fileNames(in: intact)) }
    try free(except: names)
  }
}

extension PageLookup {
  fileprivate mutating func add(_ lookup: PackLookup) {
    packs += lookup.packs.values
    unknown.formUnion(lookup.unknown)
    missing += lookup.missing.filter { !missing.contains($0) }
  }
}
