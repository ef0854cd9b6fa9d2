// Gzip: decompresses request bodies within a limit.

/// An error in a compressed body.
enum GzipError: Error, Equatable {
  case malformed(String)
  /// More than the limit.
  case tooLarge
}

enum Gzip {
  /// The content of one or more gzip members, verified by their checksums.
  static func expand(_ bytes: [UInt8], limit: Int) throws(GzipError) -> [UInt8] {
    var input = BitInput(bytes)
    var output: [UInt8] = []
    repeat {
      try skipHeader(&input)
      let start = output.count
      try Inflate.expand(&input, into: &output, limit: limit)
      input.alignToByte()
      let (sum, size) = (try input.bits(32), try input.bits(32))
      guard sum == crc32(output[start...]), size == UInt32(truncatingIfNeeded: output.count - start) else {
        throw .malformed("its check sum is wrong")
      }
    } while !input.isAtEnd
    return output
  }

  private static func skipHeader(_ input: inout BitInput) throws(GzipError) {
    guard try input.bits(8) == 0x1F, try input.bits(8) == 0x8B, try input.bits(8) == 8 else {
      throw .malformed("it does not begin as gzip does")
    }
    let flags = try input.bits(8)
    for _ in 0..<6 { _ = try input.bits(8) }  // time, level, system
    if flags & 4 != 0 { for _ in 0..<(try input.bits(16)) { _ = try input.bits(8) } }
    for flag: UInt32 in [8, 16] where flags & flag != 0 { while try input.bits(8) != 0 {} }  // name, comment
    if flags & 2 != 0 { _ = try input.bits(16) }
    if flags & 0xE0 != 0 { throw .malformed("its header has flags of no meaning") }
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
  }

  static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
  }
}

/// Bits in the order of deflate: the lowest of each byte first.
struct BitInput {
  private let bytes: [UInt8]
  private var position = 0
  private var held: UInt64 = 0
  private var heldCount = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count && heldCount < 8 }

  mutating func alignToByte() {
    held >>= UInt64(heldCount % 8)
    heldCount -= heldCount % 8
  }

  mutating func bits(_ count: Int) throws(GzipError) -> UInt32 {
    while heldCount < count {
      guard position < bytes.count else { throw .malformed("it ends too early") }
      held |= UInt64(bytes[position]) << UInt64(heldCount)
      position += 1
      heldCount += 8
    }
    defer {
      held >>= UInt64(count)
      heldCount -= count
    }
    return UInt32(truncatingIfNeeded: held & (1 << UInt64(count) - 1))
  }
}

/// Decompresses deflate data.
enum Inflate {
  /// A canonical prefix code: how many codes each length has, and their symbols in order.
  private struct Code {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int] = []

    init(_ lengths: [Int]) throws(GzipError) {
      for length in lengths where length > 0 { counts[length] += 1 }
      for length in 1...15 { symbols += lengths.indices.filter { lengths[$0] == length } }
      var free = 1
      for length in 1...15 {
        free = free * 2 - counts[length]
        if free < 0 { throw .malformed("it has a code with too many symbols") }
      }
    }

    func symbol(_ input: inout BitInput) throws(GzipError) -> Int {
      var (code, first, index) = (0, 0, 0)  // of the current length: bits, first code, its index in `symbols`
      for length in 1...15 {
        code |= Int(try input.bits(1))
        if code - first < counts[length] { return symbols[index + code - first] }
        index += counts[length]
        first = (first + counts[length]) << 1
        code <<= 1
      }
      throw .malformed("it has a code without a symbol")
    }
  }

  private static let lengthBases = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let codeLengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  static func expand(_ input: inout BitInput, into output: inout [UInt8], limit: Int) throws(GzipError) {
    let start = output.count
    var isLast = false
    while !isLast {
      isLast = try input.bits(1) == 1
      switch try input.bits(2) {
      case 0: try copyStored(&input, into: &output, limit: limit)
      case 1:
        let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
        try readBlock(
          &input, try Code(lengths), try Code(Array(repeating: 5, count: 30)), into: &output, from: start, limit: limit)
      case 2:
        let (literals, distances) = try readCodes(&input)
        try readBlock(&input, literals, distances, into: &output, from: start, limit: limit)
      default: throw .malformed("it has a block of an unknown kind")
      }
    }
  }

  private static func copyStored(
    _ input: inout BitInput, into output: inout [UInt8], limit: Int
  ) throws(GzipError) {
    input.alignToByte()
    let count = try input.bits(16)
    guard try input.bits(16) == count ^ 0xFFFF else { throw .malformed("the length of a block is wrong") }
    if output.count + Int(count) > limit { throw .tooLarge }
    for _ in 0..<count { output.append(UInt8(try input.bits(8))) }
  }

  private static func readCodes(_ input: inout BitInput) throws(GzipError) -> (Code, Code) {
    let literalCount = Int(try input.bits(5)) + 257
    let distanceCount = Int(try input.bits(5)) + 1
    var lengths = [Int](repeating: 0, count: 19)
    for index in 0..<(Int(try input.bits(4)) + 4) { lengths[codeLengthOrder[index]] = Int(try input.bits(3)) }
    let code = try Code(lengths)
    var all: [Int] = []
    while all.count < literalCount + distanceCount {
      switch try code.symbol(&input) {
      case 16:
        guard let last = all.last else { throw .malformed("it repeats a length before the first") }
        all += Array(repeating: last, count: Int(try input.bits(2)) + 3)
      case 17: all += Array(repeating: 0, count: Int(try input.bits(3)) + 3)
      case 18: all += Array(repeating: 0, count: Int(try input.bits(7)) + 11)
      case let length: all.append(length)
      }
    }
    guard all.count == literalCount + distanceCount, literalCount <= 286 else {
      throw .malformed("its codes have the wrong number of lengths")
    }
    return (try Code(Array(all[..<literalCount])), try Code(Array(all[literalCount...])))
  }

  private static func readBlock(
    _ input: inout BitInput, _ literals: Code, _ distances: Code, into output: inout [UInt8], from start: Int,
    limit: Int
  ) throws(GzipError) {
    while true {
      let symbol = try literals.symbol(&input)
      if symbol == 256 { return }
      if symbol < 256 {
        if output.count >= limit { throw .tooLarge }
        output.append(UInt8(symbol))
        continue
      }
      guard symbol - 257 < lengthBases.count else { throw .malformed("it has a length of no meaning") }
      let length = lengthBases[symbol - 257] + Int(try input.bits(lengthBits[symbol - 257]))
      let code = try distances.symbol(&input)
      guard code < 30 else { throw .malformed("it has a distance of no meaning") }
      let extra = max(0, code / 2 - 1)
      let base = code < 4 ? code + 1 : (2 + code % 2) << extra + 1
      let distance = base + Int(try input.bits(extra))
      guard distance <= output.count - start else { throw .malformed("it refers to data before its start") }
      if output.count + length > limit { throw .tooLarge }
      for _ in 0..<length { output.append(output[output.count - distance]) }
    }
  }
}
