// expect: 'init(validating:as:)' is only available in
// into: PackFormat

func plantedText(_ bytes: [UInt8]) -> Int {
  guard let text = String(validating: bytes, as: UTF8.self) else { return 0 }
  return text.utf8.count
}
