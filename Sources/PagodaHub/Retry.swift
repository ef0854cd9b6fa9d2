// Retry: how often and how long to wait for a failing hub, and how to interpret its status codes.
import Foundation

/// A response that asks to retry later.
struct BusyAnswer: Error {
  var status: Int
  var waitSeconds: Double?  // Retry-After
}

/// Counts attempts without progress, with increasing waits.
struct Retry {
  let settings: HubSettings
  private var attempts = 0

  init(_ settings: HubSettings) { self.settings = settings }

  /// Resets the count, because progress was made.
  mutating func madeProgress() { attempts = 0 }

  /// Waits before the next attempt at `what`, or throws the final error after too many.
  /// - Parameter keepsData: whether bytes of the failed transfer stay on the disk.
  mutating func wait(after error: any Error, _ what: String, keepsData: Bool = false) async throws {
    try Task.checkCancellation()
    var pause = min(0.5 * pow(2, Double(attempts)), 30) * Double.random(in: 0.8...1.2)
    let reason: String
    switch error {
    case let busy as BusyAnswer:
      reason = busy.status == 429 ? "the hub has had too many requests (429)" : "the hub answers \(busy.status)"
      if let seconds = busy.waitSeconds { pause = min(max(seconds, 0.1), 300) }
    case let failure as TransportFailure:
      let host = URL(string: settings.endpoint)?.host ?? settings.endpoint
      reason = keepsData ? failure.message : "\(host) cannot be reached: \(failure.message)"
    default: throw error
    }
    attempts += 1
    guard attempts < settings.maximumAttempts else {
      let tries = attempts == 1 ? "" : "; gave up after \(attempts) attempts"
      let kept = keepsData ? ". The received data is kept; the same command continues" : ""
      throw HubError.network("\(what): \(reason)\(tries)\(kept)")
    }
    settings.onRetry?("trying again (\(attempts + 1) of \(settings.maximumAttempts)): \(reason)")
    try await Task.sleep(for: .seconds(pause))
  }
}

extension HTTPHead {
  /// Throws unless the response is a success.
  func check(_ model: ModelName, file: String? = nil, settings: HubSettings) throws {
    if (200...299).contains(status) { return }
    let what = file.map { "\(model): \($0)" } ?? "\(model)"
    let code = headers["x-error-code"] ?? ""
    switch (status, code) {
    case (_, "GatedRepo"), (403, _):
      throw HubError.notAllowed(
        "\(what): the hub does not let you read this (\(status)). If access must be requested, do so at "
          + "\(settings.endpoint)/\(model.repository), and " + tokenAdvice(settings))
    case (401, _):
      let absent = "\(what): there is no such model, or it is private"
      throw HubError.notAllowed(
        settings.token == nil
          ? "\(absent) (401): check the name, or \(tokenAdvice(settings))"
          : "\(absent), or the hub does not accept the token (401)")
    case (404, "RevisionNotFound"):
      throw HubError.notFound("\(model.repository) has no revision '\(model.revision)'")
    case (404, _):
      throw HubError.notFound("\(what): not found at \(settings.endpoint) (404)")
    case (408, _), (429, _), (500...599, _):
      throw BusyAnswer(status: status, waitSeconds: headers["retry-after"].flatMap(Double.init))
    default:
      throw HubError.network("\(what): the hub answers \(status)")
    }
  }

  private func tokenAdvice(_ settings: HubSettings) -> String {
    settings.token == nil ? "set HF_TOKEN to your token, or log in with `hf auth login`" : "check the token in HF_TOKEN"
  }
}
