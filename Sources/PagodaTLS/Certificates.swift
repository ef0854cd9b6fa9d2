// Certificates: TLS for a server by certificate files, which may be renewed while it runs.
import CTLS
import Foundation
import PagodaServer

/// A certificate with its chain and its key. Any thread may use it.
package final class Certificates: TransportSecurity, @unchecked Sendable {
  private let certificate: String
  private let key: String
  private let lock = NSLock()
  private var context: OpaquePointer  // guarded by `lock`

  /// Both are paths of PEM files. Throws an error that names the file.
  package init(certificate: String, key: String) throws {
    self.certificate = certificate
    self.key = key
    context = try Self.open(certificate, key)
  }

  deinit { pagoda_tls_close(context) }

  /// Reads the files again. If that fails, the old certificate stays in use.
  package func reload() throws {
    let new = try Self.open(certificate, key)
    let old = lock.withLock {
      defer { context = new }
      return context
    }
    pagoda_tls_close(old)
  }

  package func session(on socket: Int32) -> (any SecureSession)? {
    lock.withLock { pagoda_tls_accept(context, socket) }.map(Session.init)
  }

  private static func open(_ certificate: String, _ key: String) throws -> OpaquePointer {
    if let reason = pagoda_tls_missing() { throw CertificateError(message: String(cString: reason)) }
    var reason = [CChar](repeating: 0, count: 1024)
    #if canImport(Darwin) || PAGODA_APPLE_TYPES
    let files = try CertificateFiles(certificate: certificate, key: key)
    let opened = files.withParts { buffers in
      let parts = buffers.map { pagoda_tls_part(bytes: $0.bindMemory(to: UInt8.self).baseAddress, num_bytes: $0.count) }
      let key = parts[parts.count - 1]
      return pagoda_tls_open_parts(parts, parts.count - 1, key, files.key.isRSA ? 1 : 0, &reason, reason.count)
    }
    #else
    let opened = pagoda_tls_open(certificate, key, &reason, reason.count)
    #endif
    guard let opened else {
      throw CertificateError(message: reason.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
    }
    return opened
  }
}

package struct CertificateError: Error {
  package var message: String
}

private final class Session: SecureSession {
  private let session: OpaquePointer

  init(_ session: OpaquePointer) { self.session = session }

  deinit { pagoda_tls_free(session) }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> SecureTransfer {
    transfer(pagoda_tls_read(session, buffer.baseAddress, buffer.count))
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> SecureTransfer {
    transfer(pagoda_tls_write(session, bytes.baseAddress, bytes.count))
  }

  var hasPending: Bool { pagoda_tls_has_pending(session) != 0 }

  func finish() { pagoda_tls_finish(session) }

  private func transfer(_ result: Int) -> SecureTransfer {
    switch result {
    case 1...: .bytes(result)
    case pagoda_tls_wants_read: .wantsRead
    case pagoda_tls_wants_write: .wantsWrite
    default: .ended
    }
  }
}
