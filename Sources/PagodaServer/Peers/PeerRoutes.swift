// PeerRoutes: serves a server's prefix files for a prompt to its peers.
import Foundation
import PagodaKit

extension ModelHost {
  /// Available only if prefixes are shared; the guard has checked the secret.
  func peerRoute(_ request: HTTPRequest) -> [String: Service.Work]? {
    guard let sharing else { return nil }
    if request.path == Service.peerPath {
      return ["POST": .json(isGeneration: false, .openAI) { try $0.listPrefixFiles($1) }]
    }
    guard request.path.hasPrefix(Service.peerPath + "/") else { return nil }
    let name = String(request.path.dropFirst(Service.peerPath.count + 1))
    guard PrefixSharing.isFileName(name) else { return nil }
    let secret = guarding.secret
    return ["GET": .stream { _, exchange in try Service.sendPrefixFile(name, in: sharing.folder, secret, exchange) }]
  }
}

extension Service {
  static let peerPath = "/v1/prefix/files"
  /// Maximum bytes of a file in one answer.
  static let peerChunkBytes = 8 << 20
  /// The keyed hash of the bytes in an answer.
  static let peerHashHeader = "x-pagoda-peer-hash"

  fileprivate func listPrefixFiles(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .prefixFiles)
    guard let values = try fields.array("tokens") else { throw fields.missing("tokens") }
    let ids = try fields.tokenIDs(values, of: "tokens", below: engine.info.vocabularySize)
    let files = try engine.prefixFiles(of: ids, cacheSalt: try fields.string("cache_salt") ?? "")
    exchange.reply(
      .whole(
        .json(
          .object([
            "files": .array(
              files.map {
                .object([
                  "name": .string($0.name), "position": .integer(Int64($0.position)),
                  "size_bytes": .integer($0.byteCount),
                ])
              }),
            "prefill_tokens_per_second": metrics.prefillRate.map { .number($0) } ?? .null,
          ]))))
  }

  /// A range of a file. The file may be gone or replaced at the next range: the receiver verifies the whole.
  fileprivate static func sendPrefixFile(
    _ name: String, in folder: String, _ secret: TenantSecret, _ exchange: Exchange
  ) throws {
    guard let range = PeerRange(exchange.head.values("range")) else {
      throw APIError.invalid("the request needs one Range such as bytes=0-1023", status: 416)
    }
    let file = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw APIError.invalid("this prefix file no longer exists", code: "not_found", status: 404)
    }
    defer { close(file) }
    let size = Int(lseek(file, 0, SEEK_END))
    let end = min(size, range.end, range.start + peerChunkBytes)
    guard range.start < end else { throw APIError.invalid("the range is beyond the end of the file", status: 416) }
    let count = end - range.start
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let read = pread(file, buffer.baseAddress! + filled, count - filled, off_t(range.start + filled))
        if read <= 0 { return }
        filled += read
      }
    }
    guard bytes.count == count else { throw APIError(status: 500, message: "a prefix file cannot be read") }
    var hash = secret.partHash(of: name, range.start..<end, fileBytes: size)
    hash.add(bytes[...])
    exchange.reply(
      .whole(
        HTTPResponse(
          status: 206, type: "application/octet-stream",
          headers: [
            HTTPHeader("Content-Range", "bytes \(range.start)-\(end - 1)/\(size)"),
            HTTPHeader(peerHashHeader, hash.hexadecimal),
          ], body: bytes)))
  }
}

/// `bytes=a-b`
private struct PeerRange {
  var start: Int
  var end: Int  // exclusive

  init?(_ values: [String]) {
    guard values.count == 1, values[0].hasPrefix("bytes=") else { return nil }
    let numbers = values[0].dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 2, let start = numbers[0], let last = numbers[1], start >= 0, last >= start, last < .max
    else { return nil }
    (self.start, end) = (start, last + 1)
  }
}

extension FieldTable {
  static let prefixFiles = FieldTable(known: ["tokens", "cache_salt"], ignored: [], refused: [:])
}
