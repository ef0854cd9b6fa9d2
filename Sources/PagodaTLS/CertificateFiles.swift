// CertificateFiles: the content of a certificate's and a key's PEM files, for a TLS library that reads no PEM.
import Foundation

/// Errors name the file, in the words of those for OpenSSL.
package struct CertificateFiles {
  /// Certificates in DER: the server's own, then those that signed it.
  package var chain: [[UInt8]]
  package var key: PrivateKey

  package init(certificate: String, key: String) throws {
    chain = try Self.read("certificate", certificate) { parts in
      let certificates = parts.filter { $0.label == "CERTIFICATE" }
      guard !certificates.isEmpty else { throw CertificateError(message: "it has no certificate") }
      return certificates.map(\.bytes)
    }
    self.key = try Self.read("key", key) { try PrivateKey($0) }
  }

  private static func read<Value>(
    _ what: String, _ path: String, _ parse: ([PEMPart]) throws -> Value
  ) throws -> Value {
    do {
      guard let data = FileManager.default.contents(atPath: path) else {
        throw CertificateError(message: "it cannot be opened")
      }
      return try parse(PEMPart.all(of: String(decoding: data, as: UTF8.self)))
    } catch let error as CertificateError {
      throw CertificateError(message: "the \(what) cannot be read from \(path): \(error.message)")
    }
  }

  /// Calls with all parts side by side in memory: the bytes of the chain's certificates, and then the key's.
  package func withParts<Result>(_ body: ([UnsafeRawBufferPointer]) throws -> Result) rethrows -> Result {
    let parts = chain + [key.bytes]
    return try Array(parts.joined()).withUnsafeBytes { all in
      var start = 0
      return try body(
        parts.map { part in
          defer { start += part.count }
          return UnsafeRawBufferPointer(rebasing: all[start..<start + part.count])
        })
    }
  }
}
