// PEM: certificates and private keys of PEM files, as Apple's Security framework takes them. OpenSSL reads such files itself.
import Foundation

/// The parts of a PEM file: `-----BEGIN LABEL-----`, base64, `-----END LABEL-----`.
package struct PEMPart: Equatable {
  package var label: String
  package var bytes: [UInt8]

  package init(label: String, bytes: [UInt8]) {
    self.label = label
    self.bytes = bytes
  }

  /// Text between the parts is ignored, as everywhere.
  package static func all(of text: String) throws -> [PEMPart] {
    var parts: [PEMPart] = []
    var open: (label: String, base64: String)?
    for line in text.split(whereSeparator: \.isNewline).map({ $0.trimmingCharacters(in: .whitespaces) }) {
      if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
        open = (String(line.dropFirst(11).dropLast(5)), "")
      } else if line.hasPrefix("-----END "), let part = open {
        guard let data = Data(base64Encoded: part.base64) else {
          throw CertificateError(message: "its base64 is damaged")
        }
        parts.append(PEMPart(label: part.label, bytes: Array(data)))
        open = nil
      } else if line.contains(":") && open != nil {
        throw CertificateError(message: "it has a password")  // headers: the older form of encryption
      } else {
        open?.base64 += line
      }
    }
    return parts
  }
}

/// A private key: PKCS#1 for RSA, the point and the scalar of X9.63 for elliptic curves.
package struct PrivateKey: Equatable {
  package var isRSA: Bool
  package var bytes: [UInt8]

  private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  private static let ellipticCurve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

  /// The first key of a file.
  package init(_ parts: [PEMPart]) throws {
    guard let part = parts.first(where: { $0.label.hasSuffix("PRIVATE KEY") }) else {
      throw CertificateError(message: "it has no private key")
    }
    switch part.label {
    case "RSA PRIVATE KEY": (isRSA, bytes) = (true, part.bytes)
    case "EC PRIVATE KEY": (isRSA, bytes) = (false, try Self.pointAndScalar(part.bytes))
    case "PRIVATE KEY": (isRSA, bytes) = try Self.unwrapped(part.bytes)
    case "ENCRYPTED PRIVATE KEY": throw CertificateError(message: "it has a password")
    default: throw CertificateError(message: "keys of the kind '\(part.label)' cannot be used")
    }
  }

  /// PKCS#8: a version, the algorithm, and the key in the form of that algorithm.
  private static func unwrapped(_ bytes: [UInt8]) throws -> (Bool, [UInt8]) {
    var outer = DER(bytes[...])
    var body = DER(try outer.next(0x30))
    _ = try body.next(0x02)
    var algorithm = DER(try body.next(0x30))
    let name = Array(try algorithm.next(0x06))
    let key = Array(try body.next(0x04))
    if name == rsa { return (true, key) }
    guard name == ellipticCurve else {
      throw CertificateError(message: "only keys for RSA and elliptic curves can be used")
    }
    return (false, try pointAndScalar(key))
  }

  /// SEC 1: a version, the scalar, and optional fields, of which the last is the public point.
  private static func pointAndScalar(_ bytes: [UInt8]) throws -> [UInt8] {
    var outer = DER(bytes[...])
    var body = DER(try outer.next(0x30))
    _ = try body.next(0x02)
    let scalar = try body.next(0x04)
    while let (tag, field) = try body.nextIfAny() {
      guard tag == 0xA1 else { continue }
      var inner = DER(field)
      // A bit string begins with its number of unused bits; an uncompressed point has twice the scalar's length.
      let point = try inner.next(0x03).dropFirst()
      guard point.first == 4, point.count == 2 * scalar.count + 1 else { break }
      return Array(point + scalar)
    }
    throw CertificateError(message: "it lacks the public point; `openssl ec -in OLD -out NEW` adds it")
  }
}

/// The values of a structure in DER, one after the other.
private struct DER {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func next(_ tag: UInt8) throws -> ArraySlice<UInt8> {
    guard let (found, value) = try nextIfAny(), found == tag else { throw Self.damaged }
    return value
  }

  /// Nil at the end.
  mutating func nextIfAny() throws -> (tag: UInt8, value: ArraySlice<UInt8>)? {
    guard let tag = rest.popFirst() else { return nil }
    guard let first = rest.popFirst() else { throw Self.damaged }
    var count = Int(first)
    if first >= 0x80 {
      let numBytes = Int(first & 0x7F)
      guard 1...4 ~= numBytes, numBytes <= rest.count else { throw Self.damaged }
      count = rest.prefix(numBytes).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(numBytes)
    }
    guard count <= rest.count else { throw Self.damaged }
    defer { rest = rest.dropFirst(count) }
    return (tag, rest.prefix(count))
  }

  private static var damaged: CertificateError { CertificateError(message: "it is damaged") }
}
