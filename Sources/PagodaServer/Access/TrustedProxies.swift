// TrustedProxies: proxies whose X-Forwarded-For header is believed, so that their clients have addresses of their own.
import Foundation

struct TrustedProxies: Sendable {
  private struct Network {
    var bytes: [UInt8]  // 4 or 16
    var bits: Int
  }

  private var networks: [Network] = []
  private var hasUnix = false

  init() {}

  /// Addresses, networks such as `10.0.0.0/8`, and `unix` for clients of a Unix socket.
  init(_ texts: [String]) throws {
    for text in texts {
      if text == "unix" {
        hasUnix = true
        continue
      }
      let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      guard let bytes = Self.bytes(String(parts[0])),
        let bits = parts.count == 1 ? 8 * bytes.count : Int(parts[1]), (0...8 * bytes.count).contains(bits)
      else {
        throw ServerError("'\(text)' is no trusted proxy: give an address, a network such as 10.0.0.0/8, or unix")
      }
      networks.append(Network(bytes: bytes, bits: bits))
    }
  }

  /// The address of the client: the last one in the chain of proxies that is not a trusted proxy itself. Everything before
  /// it in the header may be invented.
  func client(of request: HTTPRequest) -> String {
    var address = request.address
    let hops = request.values("x-forwarded-for").flatMap { $0.split(separator: ",") }
    for hop in hops.reversed() {
      guard contains(address), let known = Self.plain(hop.trimmingCharacters(in: .whitespaces)) else { break }
      address = known
    }
    return address
  }

  func contains(_ address: String) -> Bool {
    if address.isEmpty { return hasUnix }
    // A link-local address of a connection names its interface: fe80::1%eth0.
    guard let bytes = Self.bytes(String(address.prefix { $0 != "%" })) else { return false }
    return networks.contains { network in
      network.bytes.count == bytes.count
        && (0..<network.bits).allSatisfy { bit in
          (network.bytes[bit / 8] ^ bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
        }
    }
  }

  /// An address without the port that some proxies add: `192.0.2.1:80`, `[2001:db8::1]:80`.
  private static func plain(_ text: String) -> String? {
    if bytes(text) != nil { return text }
    let host: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[..<end].dropFirst()
      let rest = text[text.index(after: end)...]
      if !rest.isEmpty && !isPort(rest) { return nil }
    } else {
      host = text.prefix { $0 != ":" }
      if !isPort(text[host.endIndex...]) { return nil }
    }
    return bytes(String(host)) == nil ? nil : String(host)
  }

  private static func isPort(_ text: Substring) -> Bool { text.hasPrefix(":") && UInt16(text.dropFirst()) != nil }

  /// What a client cannot vary: an IPv4 address, or the first half of an IPv6 address, which is one customer's network.
  static func network(of address: String) -> String {
    guard let bytes = bytes(address), bytes.count == 16 else { return address }
    return bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ".") + "/64"
  }

  /// The address in network order; IPv4 in IPv6 counts as IPv4.
  private static func bytes(_ text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
    guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
    let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
    return isMapped ? Array(bytes.suffix(4)) : bytes
  }
}
