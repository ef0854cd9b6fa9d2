// PrefixPeer: fetches prefix files from another server. Blocking, with a deadline for each exchange.
import Foundation
import PagodaKit

final class PrefixPeer: @unchecked Sendable {
  struct File {
    var name: String
    var position: Int
    var byteCount: Int
  }

  struct Answer {
    var files: [File]
    var prefillRate: Double?  // tokens per second, as measured there
  }

  let host: String
  let port: UInt16
  private let secret: TenantSecret
  private let token: String
  private let lock = NSLock()
  // Guarded by `lock`.
  private var rate: Double?  // bytes per second of the last transfers
  private var rateTime = 0.0  // when it was measured
  private var failures = 0  // since it last answered
  private var suspendedUntil = 0.0

  init(_ url: String, secret: TenantSecret) throws {
    guard let parts = URLComponents(string: url), parts.scheme == "http", let host = parts.host, !host.isEmpty,
      let port = UInt16(exactly: parts.port ?? 8080), ["", "/"].contains(parts.path), parts.query == nil
    else { throw ServerError("'\(url)' is not a peer; it must be like http://host:8080") }
    self.host = host
    self.port = port
    self.secret = secret
    token = secret.peerToken
  }

  /// A peer that failed is not asked for a while, longer each time.
  var isSuspended: Bool { lock.withLock { monotonicSeconds() < suspendedUntil } }

  /// Nil if it was not measured in the last minute: a slow peer is tried again.
  var bytesPerSecond: Double? { lock.withLock { monotonicSeconds() - rateTime < 60 ? rate : nil } }

  /// The files that lead furthest into a prompt.
  func files(
    for tokens: [Int32], cacheSalt: String, _ headers: [String: String] = [:], before deadline: Double
  ) throws -> Answer {
    let body = JSONValue.object([
      "tokens": .array(tokens.map { .integer(Int64($0)) }), "cache_salt": .string(cacheSalt),
    ]).text
    let value = try exchange(before: deadline) { client in
      let all = headers.merging(["x-pagoda-peer": token]) { $1 }
      try client.request("POST", Service.peerPath, host: host, headers: all, body: body)
      let response = try client.response()
      guard response.status == 200, let value = try? JSONValue.parse(response.body) else {
        throw ServerError("the peer answered with status \(response.status)")
      }
      return value
    }
    return Answer(
      files: try (value["files"]?.arrayValue ?? []).map { entry in
        guard let name = entry["name"]?.stringValue, PrefixSharing.isFileName(name),
          let position = entry["position"]?.intValue, (1...(1 << 28)).contains(position),
          let size = entry["size_bytes"]?.intValue, (1...(1 << 40)).contains(size)
        else { throw ServerError("the peer's list of files is not one") }
        return File(name: name, position: Int(position), byteCount: Int(size))
      },
      prefillRate: value["prefill_tokens_per_second"]?.doubleValue)
  }

  /// Writes a file of the peer to `path`, which must not exist.
  func fetch(_ file: File, to path: String, _ headers: [String: String] = [:], before deadline: Double) throws {
    let out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard out >= 0 else { throw ServerError("\(path): \(String(cString: strerror(errno)))") }
    defer { close(out) }
    let begin = monotonicSeconds()
    var offset = 0
    defer { note(offset, seconds: monotonicSeconds() - begin) }  // a transfer cut off shows how slow the peer is
    try exchange(before: deadline) { client in
      while offset < file.byteCount {
        let last = min(file.byteCount, offset + Service.peerChunkBytes) - 1
        try client.request(
          "GET", "\(Service.peerPath)/\(file.name)", host: host,
          headers: headers.merging(["x-pagoda-peer": token, "Range": "bytes=\(offset)-\(last)"]) { $1 })
        let start = offset
        var hash = secret.partHash(of: file.name, start..<(last + 1), fileBytes: file.byteCount)
        let response = try client.response(keepsBody: false) { bytes in
          offset += bytes.count
          if offset > last + 1 { throw ServerError("the peer sent more than was requested") }
          hash.add(bytes)
          try Self.write(bytes, to: out)
        }
        guard response.status == 206, offset == last + 1,
          response.headers["content-range"] == "bytes \(start)-\(last)/\(file.byteCount)"
        else { throw ServerError("the peer sent a different part of the file than requested") }
        guard response.headers[Service.peerHashHeader] == hash.hexadecimal else {
          throw ServerError("the peer's file was changed on the way, or the peer has another secret")
        }
      }
    }
  }

  /// Small transfers measure how a connection started or broke, not its speed.
  private func note(_ byteCount: Int, seconds: Double) {
    if byteCount < 64 << 10 { return }
    let now = Double(byteCount) / max(1e-6, seconds)
    lock.withLock {
      rate = rate.map { ($0 + now) / 2 } ?? now
      rateTime = monotonicSeconds()
    }
  }

  /// Runs `body` on a connection that is cut at the deadline, and records whether it succeeded.
  private func exchange<Value>(before deadline: Double, _ body: (HTTPClient) throws -> Value) throws -> Value {
    do {
      let left = deadline - monotonicSeconds()
      guard left > 0 else { throw ServerError("no time is left") }
      let client = try HTTPClient(host: host, port: port, timeout: left)
      let cut = DispatchWorkItem { client.close() }
      DispatchQueue.global().asyncAfter(deadline: .now() + left, execute: cut)
      defer { cut.cancel() }
      let value = try body(client)
      lock.withLock { failures = 0 }
      return value
    } catch {
      lock.withLock {
        failures += 1
        suspendedUntil = monotonicSeconds() + min(60, 0.125 * pow(2, Double(min(failures, 10))))
      }
      throw error
    }
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to file: Int32) throws {
    try bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = Foundation.write(file, buffer.baseAddress! + done, buffer.count - done)
        if count <= 0 { throw ServerError("a prefix file cannot be written: \(String(cString: strerror(errno)))") }
        done += count
      }
    }
  }
}
