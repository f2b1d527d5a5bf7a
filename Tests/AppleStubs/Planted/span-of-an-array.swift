// expect: 'span' is only available in
// into: PackFormat

func plantedCount(_ bytes: [UInt8]) -> Int { bytes.span.count }
