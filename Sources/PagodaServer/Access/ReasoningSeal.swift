// ReasoningSeal: thinking that a client keeps and sends back, encrypted or signed so that it cannot be changed.
import Foundation

/// Counter mode and tags over HMAC-SHA-256, with keys derived from the server's secret and the client's key.
struct ReasoningSeal: Sendable {
  enum Opened: Equatable {
    case text(String)
    /// From another server, another key of this one, or an earlier secret: it cannot be read, and proves nothing.
    case foreign
    /// It names this secret, but has been changed.
    case broken
  }

  private static let mark = "pgd1."
  private static let idBytes = 8
  private static let nonceBytes = 16
  private static let tagBytes = 32

  private let id: [UInt8]
  private let cipherKey: [UInt8]
  private let tagKey: [UInt8]
  private let signatureKey: [UInt8]

  init(key: [UInt8]) {
    func derived(_ use: String) -> [UInt8] { TenantSecret.authenticate(Array(use.utf8), secret: key) }
    id = Array(derived("id").prefix(Self.idBytes))
    (cipherKey, tagKey, signatureKey) = (derived("cipher"), derived("tag"), derived("signature"))
  }

  /// The text, encrypted.
  func seal(_ text: String) -> String {
    var generator = SystemRandomNumberGenerator()
    let nonce = (0..<Self.nonceBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let body = id + nonce + crypt(Array(text.utf8)[...], nonce)
    return Self.mark + Data(body + TenantSecret.authenticate(body, secret: tagKey)).base64EncodedString()
  }

  func open(_ sealed: String) -> Opened {
    guard let bytes = own(sealed) else { return .foreign }
    let start = Self.idBytes + Self.nonceBytes
    guard bytes.count >= start + Self.tagBytes else { return .broken }
    let body = Array(bytes.dropLast(Self.tagBytes))
    guard Self.isEqual(TenantSecret.authenticate(body, secret: tagKey), bytes.suffix(Self.tagBytes)) else {
      return .broken
    }
    return .text(String(decoding: crypt(body[start...], Array(body[Self.idBytes..<start])), as: UTF8.self))
  }

  /// A signature of the text.
  func sign(_ text: String) -> String {
    Self.mark + Data(id + TenantSecret.authenticate(Array(text.utf8), secret: signatureKey)).base64EncodedString()
  }

  /// Whether a signature that this seal made is of another text.
  func isForged(_ signature: String, of text: String) -> Bool {
    guard let bytes = own(signature) else { return false }
    let tag = TenantSecret.authenticate(Array(text.utf8), secret: signatureKey)
    return !Self.isEqual(tag, bytes.dropFirst(Self.idBytes))
  }

  /// The bytes of a text that this seal made; nil for all others.
  private func own(_ text: String) -> [UInt8]? {
    guard text.hasPrefix(Self.mark), let data = Data(base64Encoded: String(text.dropFirst(Self.mark.count))),
      data.starts(with: id)
    else { return nil }
    return Array(data)
  }

  private func crypt(_ bytes: ArraySlice<UInt8>, _ nonce: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var block: [UInt8] = []
    for (offset, byte) in bytes.enumerated() {
      let position = offset % Self.tagBytes
      if position == 0 {
        let count = withUnsafeBytes(of: UInt64(offset / Self.tagBytes).littleEndian) { Array($0) }
        block = TenantSecret.authenticate(nonce + count, secret: cipherKey)
      }
      out.append(byte ^ block[position])
    }
    return out
  }

  /// Constant time in the content.
  private static func isEqual(_ left: [UInt8], _ right: some Collection<UInt8>) -> Bool {
    left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
