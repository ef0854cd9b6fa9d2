// PEM files as Apple's framework needs them, compared with what openssl says of the same keys.
import Foundation
import PagodaTLS
import Testing

@Suite struct CertificateTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "pagoda-pem-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  @discardableResult private func openssl(_ arguments: String...) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = Pipe()
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments.joined(separator: " "))")
    return text
  }

  private func key(_ name: String) throws -> PrivateKey {
    try PrivateKey(PEMPart.all(of: String(contentsOfFile: path(name), encoding: .utf8)))
  }

  private func der(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: folder.appending(path: name))) }

  @Test func keys_for_rsa_are_their_pkcs1() throws {
    try openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", path("new.pem"))
    try openssl("rsa", "-in", path("new.pem"), "-traditional", "-out", path("old.pem"))
    try openssl("rsa", "-in", path("new.pem"), "-traditional", "-outform", "DER", "-out", path("key.der"))
    let expected = try der("key.der")
    for name in ["new.pem", "old.pem"] {
      let found = try key(name)
      #expect(found.isRSA && found.bytes == expected)
    }
  }

  @Test(arguments: ["prime256v1", "secp384r1", "secp521r1"])
  func keys_of_curves_are_their_point_and_scalar(_ curve: String) throws {
    try openssl("ecparam", "-name", curve, "-genkey", "-out", path("old.pem"))  // begins with the curve's parameters
    try openssl("pkcs8", "-topk8", "-nocrypt", "-in", path("old.pem"), "-out", path("new.pem"))
    let text = try openssl("ec", "-in", path("old.pem"), "-noout", "-text")
    let hex = text.split(separator: "\n").filter { $0.hasPrefix("    ") }.joined().filter(\.isHexDigit)
    let numbers = stride(from: 0, to: hex.count - 1, by: 2).compactMap { start in
      UInt8(hex.dropFirst(start).prefix(2), radix: 16)
    }
    let size = curve == "prime256v1" ? 32 : curve == "secp384r1" ? 48 : 66
    // openssl shows the scalar, then the point, which begins with a 4.
    let expected = Array(numbers.suffix(2 * size + 1)) + Array(numbers.dropLast(2 * size + 1).suffix(size))
    for name in ["old.pem", "new.pem"] {
      let found = try key(name)
      #expect(!found.isRSA && found.bytes == expected && found.bytes.first == 4, "\(name)")
    }
  }

  @Test func a_chain_is_read_in_order() throws {
    for name in ["one", "two"] {
      try openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(name)",
        "-keyout", path("\(name).key"), "-out", path("\(name).pem"))
      try openssl("x509", "-in", path("\(name).pem"), "-outform", "DER", "-out", path("\(name).der"))
    }
    let texts = try ["one.pem", "two.pem"].map { try String(contentsOfFile: path($0), encoding: .utf8) }
    try ("some words\n" + texts.joined(separator: "\r\n")).write(
      toFile: path("chain.pem"), atomically: true, encoding: .utf8)
    let files = try CertificateFiles(certificate: path("chain.pem"), key: path("one.key"))
    let chain = try [der("one.der"), der("two.der")]
    #expect(files.chain == chain && !files.key.isRSA)
    #expect(files.withParts { $0.map(Array.init) } == files.chain + [files.key.bytes])
  }

  @Test func what_cannot_be_used_is_named() throws {
    try openssl("genpkey", "-algorithm", "ED25519", "-out", path("ed.pem"))
    try openssl(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-aes256", "-pass", "pass:x", "-out",
      path("secret.pem"))
    try openssl(
      "ec", "-in", path("secret.pem"), "-passin", "pass:x", "-aes256", "-passout", "pass:x", "-out", path("older.pem"))
    try openssl("ec", "-in", path("secret.pem"), "-passin", "pass:x", "-no_public", "-out", path("short.pem"))
    try "text".write(toFile: path("text.pem"), atomically: true, encoding: .utf8)
    func message(_ certificate: String, _ key: String) -> String {
      do {
        _ = try CertificateFiles(certificate: path(certificate), key: path(key))
        return ""
      } catch { return (error as? CertificateError)?.message ?? "\(error)" }
    }
    #expect(
      message("none.pem", "ed.pem") == "the certificate cannot be read from \(path("none.pem")): it cannot be opened")
    #expect(message("text.pem", "ed.pem").hasSuffix("text.pem: it has no certificate"))
    func refusal(_ name: String) -> String {
      do {
        _ = try key(name)
        return ""
      } catch { return (error as? CertificateError)?.message ?? "\(error)" }
    }
    #expect(refusal("text.pem") == "it has no private key")
    #expect(refusal("ed.pem") == "only keys for RSA and elliptic curves can be used")
    #expect(refusal("secret.pem") == "it has a password" && refusal("older.pem") == "it has a password")
    #expect(refusal("short.pem").contains("lacks the public point"))
  }

  @Test func damaged_keys_are_errors() throws {
    try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path("key.pem"))
    let parts = try PEMPart.all(of: String(contentsOfFile: path("key.pem"), encoding: .utf8))
    let whole = try #require(parts.first)
    for count in 0..<whole.bytes.count {
      #expect(throws: CertificateError.self) {
        try PrivateKey([PEMPart(label: whole.label, bytes: Array(whole.bytes.prefix(count)))])
      }
    }
    for index in whole.bytes.indices {
      for value in [0, 0x7F, 0x80, 0x84, 0xFF] as [UInt8] {
        var bytes = whole.bytes
        bytes[index] = value
        _ = try? PrivateKey([PEMPart(label: "PRIVATE KEY", bytes: bytes)])
        _ = try? PrivateKey([PEMPart(label: whole.label, bytes: bytes)])
      }
    }
  }
}
