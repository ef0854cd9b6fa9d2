// Prefix files from another server: each part carries a hash with the shared secret, and a changed one is refused.
import Foundation
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct PrefixPeerTests {
  private static let name = String(repeating: "0a", count: 16) + ".pagoda-prefix"
  private static let secret = TenantSecret(bytes: Array(repeating: 7, count: 32))
  private static let content = (0..<(Service.peerChunkBytes + 1000)).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  /// A server that has or lacks the secret, and changes what it sends.
  private final class Sender: HTTPService, @unchecked Sendable {
    let secret: TenantSecret?
    let change: @Sendable (inout [UInt8], Range<Int>) -> Void

    init(_ secret: TenantSecret?, _ change: @escaping @Sendable (inout [UInt8], Range<Int>) -> Void) {
      self.secret = secret
      self.change = change
    }

    func action(for request: HTTPRequest) -> HTTPAction {
      let numbers = request.values("range")[0].dropFirst(6).split(separator: "-").map { Int($0)! }
      let (range, size) = (numbers[0]..<(numbers[1] + 1), PrefixPeerTests.content.count)
      var bytes = Array(PrefixPeerTests.content[range])
      var headers = [HTTPHeader("Content-Range", "bytes \(numbers[0])-\(numbers[1])/\(size)")]
      if let secret {
        var hash = secret.partHash(of: PrefixPeerTests.name, range, fileBytes: size)
        hash.add(bytes[...])
        headers.append(HTTPHeader(Service.peerHashHeader, hash.hexadecimal))
      }
      change(&bytes, range)
      return .respond(HTTPResponse(status: 206, type: "application/octet-stream", headers: headers, body: bytes))
    }
    func sender(of request: HTTPRequest) -> String { "one" }
    func bodyTooLarge(_ request: HTTPRequest) -> HTTPResponse { .empty }
    func refusal(of request: HTTPRequest, _ error: FramingError) -> HTTPResponse { .empty }
    func headers(for exchange: Exchange) -> [HTTPHeader] { [] }
    func finished(_ exchange: Exchange) {}
  }

  /// The bytes that arrive from the sender.
  private static func fetch(
    from secret: TenantSecret?, _ change: @escaping @Sendable (inout [UInt8], Range<Int>) -> Void = { _, _ in }
  ) throws -> [UInt8] {
    let http = HTTPServer(Sender(secret, change), limits: HTTPLimits())
    try http.start(host: "127.0.0.1", port: 0)
    defer { http.stop(cutWith: .empty) }
    let path = NSTemporaryDirectory() + "pagoda-part-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let peer = try PrefixPeer("http://127.0.0.1:\(http.port)", secret: Self.secret)
    let file = PrefixPeer.File(name: name, position: 512, byteCount: content.count)
    try peer.fetch(file, to: path, before: monotonicSeconds() + 600)
    return Array(FileManager.default.contents(atPath: path) ?? Data())
  }

  @Test func a_file_arrives_in_parts() throws {
    #expect(try Self.fetch(from: Self.secret) == Self.content)
  }

  @Test func a_part_that_was_changed_on_the_way_is_refused() throws {
    for at in [0, 4711, Service.peerChunkBytes + 999] {
      #expect(throws: ServerError.self) {
        try Self.fetch(from: Self.secret) { bytes, range in
          if range.contains(at) { bytes[at - range.lowerBound] ^= 1 }
        }
      }
    }
  }

  @Test func a_server_without_the_secret_cannot_give_files() throws {
    #expect(throws: ServerError.self) { try Self.fetch(from: nil) }
    #expect(throws: ServerError.self) { try Self.fetch(from: TenantSecret(bytes: Array(repeating: 8, count: 32))) }
  }

  @Test func a_hash_belongs_to_one_part_of_one_file() {
    let hash = Self.secret.partHash(of: Self.name, 0..<10, fileBytes: 100).hexadecimal
    #expect(hash == Self.secret.partHash(of: Self.name, 0..<10, fileBytes: 100).hexadecimal)
    #expect(hash != Self.secret.partHash(of: Self.name, 10..<20, fileBytes: 100).hexadecimal)
    #expect(hash != Self.secret.partHash(of: Self.name, 0..<10, fileBytes: 101).hexadecimal)
    #expect(hash != Self.secret.partHash(of: "b" + Self.name, 0..<10, fileBytes: 100).hexadecimal)
  }
}
