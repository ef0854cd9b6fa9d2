// Multipart: the parts of a multipart/form-data body, as clients upload files.
import Foundation

struct Multipart {
  struct Part {
    var name: String
    var filename: String?
    var content: ArraySlice<UInt8>
  }

  private(set) var parts: [Part] = []
  private static let maximumParts = 32
  private static let maximumHeader = 4096

  /// The boundary in a Content-Type; nil if it is not multipart/form-data with one.
  static func boundary(of type: String) -> String? {
    let fields = type.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    guard fields.first?.lowercased() == "multipart/form-data" else { return nil }
    let given = fields.first { $0.lowercased().hasPrefix("boundary=") }?.dropFirst(9)
    let boundary = given?.trimmingCharacters(in: ["\""]) ?? ""
    return (1...70).contains(boundary.utf8.count) ? boundary : nil
  }

  init(_ body: [UInt8], boundary: String) throws {
    let mark = Array("\r\n--\(boundary)".utf8)
    // The first mark has no line break before it.
    guard body.starts(with: mark.dropFirst(2)) else { throw Self.malformed("it does not begin with its boundary") }
    var start = mark.count - 2
    while true {
      let rest = body[start...]
      if rest.starts(with: "--".utf8) { return }
      guard rest.starts(with: "\r\n".utf8) else { throw Self.malformed("a boundary has no line break after it") }
      // Kept: the line break ends the mark, and begins the empty line of a part without headers.
      guard let end = Self.find(mark, in: body, from: start) else {
        throw Self.malformed("its last boundary is missing")
      }
      guard parts.count < Self.maximumParts else { throw Self.malformed("it has more than \(Self.maximumParts) parts") }
      parts.append(try Self.part(body, start, end))
      start = end + mark.count
    }
  }

  /// The text of a field; nil if it is missing.
  func text(_ name: String) -> String? {
    parts.first { $0.name == name }.map { String(decoding: $0.content, as: UTF8.self) }
  }

  private static func malformed(_ reason: String) -> APIError {
    .invalid("the body is not valid multipart/form-data: \(reason)")
  }

  private static func part(_ body: [UInt8], _ start: Int, _ end: Int) throws -> Part {
    let empty = Array("\r\n\r\n".utf8)
    guard let split = find(empty, in: body, from: start), split + 4 <= end, split - start <= maximumHeader else {
      throw malformed("a part has no headers")
    }
    let head = String(decoding: body[start..<split], as: UTF8.self).split(whereSeparator: \.isNewline)
    let line = head.first { $0.lowercased().hasPrefix("content-disposition:") } ?? ""
    guard let name = value("name", of: line) else { throw malformed("a part has no name") }
    return Part(name: name, filename: value("filename", of: line), content: body[(split + 4)..<end])
  }

  /// `; name="value"`, in which browsers write a quotation mark as %22.
  private static func value(_ key: String, of line: Substring) -> String? {
    guard let found = line.range(of: "; \(key)=\"", options: .caseInsensitive),
      let end = line[found.upperBound...].firstIndex(of: "\"")
    else { return nil }
    return String(line[found.upperBound..<end])
  }

  /// The position of `mark`, found by its first byte, a carriage return: files have few.
  private static func find(_ mark: [UInt8], in body: [UInt8], from start: Int) -> Int? {
    body.withUnsafeBytes { bytes in
      var position = start
      while position + mark.count <= bytes.count, let base = bytes.baseAddress {
        guard let found = memchr(base + position, Int32(mark[0]), bytes.count - position) else { return nil }
        position = UnsafeRawPointer(found) - base
        if position + mark.count > bytes.count { return nil }
        if memcmp(base + position, mark, mark.count) == 0 { return position }
        position += 1
      }
      return nil
    }
  }
}
