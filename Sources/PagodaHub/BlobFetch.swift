// BlobFetch: downloads one blob, retrying every recoverable fault; it ends with verified bytes or an error.
import Foundation

/// Downloads the blobs of one model, one at a time.
struct BlobFetch: Sendable {
  let model: ModelName
  let commit: String
  let settings: HubSettings
  let connection: HTTPConnection
  let meter: ProgressMeter

  private static let maximumWrongBodies = 2

  /// The caller holds the blob's lock.
  func fetch(_ file: HubFile, to path: String) async throws {
    let blob = try await offCooperativePool { try BlobFile(file, path: path) }
    meter.adjust(blob.size)
    var retry = Retry(settings)
    var wrongBodies = 0
    var most = blob.size  // of all attempts so far: one that restarts at zero must get further to count as progress
    while true {
      if !blob.isFull {
        do {
          try await transfer(file, into: blob)
          if !blob.isFull { throw TransportFailure(message: "the connection ended early") }
        } catch {
          if blob.size > most { retry.madeProgress() }
          most = max(most, blob.size)
          meter.note("\(file.path): waiting to try again")
          try await retry.wait(after: error, "\(model): \(file.path)", keepsData: blob.size > 0)
          continue
        }
      }
      if try await offCooperativePool({ try blob.finish() }) { return }
      meter.adjust(-file.size)
      wrongBodies += 1
      if wrongBodies >= Self.maximumWrongBodies {
        throw HubError.damaged(
          "\(model): \(file.path) came \(wrongBodies) times with another \(file.hash.kind) than the hub gives for it; "
            + "it was thrown away")
      }
    }
  }

  private func transfer(_ file: HubFile, into blob: BlobFile) async throws {
    let address = "\(settings.endpoint)/\(model.repository)/resolve/\(commit)/\(encoded(file.path))"
    let request = try hubRequest(address, settings, from: blob.size)
    try await connection.send(
      request, onHead: { try begin($0, file, blob) },
      onData: { data in
        try blob.append(data)
        meter.receive(Int64(data.count))
      })
  }

  /// Decides from the response head whether the body continues the partial file.
  private func begin(_ head: HTTPHead, _ file: HubFile, _ blob: BlobFile) throws {
    if head.status == 416 {
      try restart(blob)
      throw TransportFailure(message: "the hub refuses to continue the file (416)")
    }
    try head.check(model, file: file.path, settings: settings)
    let isContinued = head.status == 206 && head.headers["content-range"].map { continues($0, blob) } == true
    if blob.size > 0 && !isContinued { try restart(blob) }
    if head.status == 206 && !isContinued { throw TransportFailure(message: "the hub sent another part of the file") }
    if let length = head.headers["content-length"].flatMap({ Int64($0) }), length != file.size - blob.size {
      throw TransportFailure(message: "\(length) bytes are announced instead of \(file.size - blob.size)")
    }
  }

  /// `bytes 100-199/200`: must be exactly the missing range.
  private func continues(_ range: String, _ blob: BlobFile) -> Bool {
    range == "bytes \(blob.size)-\(blob.file.size - 1)/\(blob.file.size)"
  }

  private func restart(_ blob: BlobFile) throws {
    meter.adjust(-blob.size)
    try blob.restart()
  }
}

/// Runs blocking work outside of the cooperative thread pool.
func offCooperativePool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
  }
}
