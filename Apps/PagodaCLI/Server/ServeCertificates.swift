// The certificate files of pagoda serve.
import Foundation
import PagodaServer
import PagodaTLS

/// HTTPS, if there are certificate files. SIGHUP reads them again, so that renewing them needs no restart.
func useCertificates(
  _ arguments: Arguments, _ log: LogWriter, _ options: inout ServerOptions
) throws -> (any DispatchSourceSignal)? {
  guard let certificate = arguments.string("tls-cert"), let key = arguments.string("tls-key") else {
    if arguments.has("tls-cert") || arguments.has("tls-key") {
      throw UsageError("--tls-cert and --tls-key need each other")
    }
    return nil
  }
  let certificates: Certificates
  do {
    certificates = try Certificates(
      certificate: NSString(string: certificate).expandingTildeInPath, key: NSString(string: key).expandingTildeInPath)
  } catch let error as CertificateError {
    throw CommandFailure("--tls-cert: \(error.message)")
  }
  options.security = certificates
  signal(SIGHUP, SIG_IGN)  // before the source, which sets a handler of its own
  let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
  source.setEventHandler {
    do {
      try certificates.reload()
      log.write("pagoda: the certificate was read again")
    } catch {
      log.write("pagoda: the old certificate stays in use: \((error as? CertificateError)?.message ?? "\(error)")")
    }
  }
  source.resume()
  return source
}
