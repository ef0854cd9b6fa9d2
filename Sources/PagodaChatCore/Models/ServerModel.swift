// ServerModel: the switch that serves the loaded model to other programs on this machine.
import Foundation
import Observation
import PagodaKit
import PagodaServer

/// The local server's switch.
@MainActor @Observable
public final class ServerModel {
  /// Its address; nil while it is off.
  public private(set) var url: String?
  /// Why it could not be started.
  public var failure: ChatFailure?

  private let engines: EngineModel
  private let activities: any Activities
  private var server: Server?
  private var activity: (any Sendable)?  // while it is on

  /// A stopped server.
  public init(engines: EngineModel, activities: any Activities = SystemActivities()) {
    self.engines = engines
    self.activities = activities
  }

  /// Whether it is running.
  public var isOn: Bool { url != nil }

  /// The last requests, oldest first.
  public private(set) var log: [String] = []
  static let mostLogLines = 200

  /// A new key that no one can guess.
  public static func newKey() -> String {
    (0..<24).map { _ in String(UInt8.random(in: .min ... .max), radix: 36) }.joined()
  }

  /// Serves the loaded model; port 0 picks a free one. Other machines can reach it only if `onNetwork`, which needs a key.
  public func turnOn(port: UInt16, onNetwork: Bool = false, key: String = "") {
    guard !isOn else { return }
    guard !onNetwork || !key.isEmpty else {
      failure = ChatFailure(
        "The server is off", cause: "Other machines could use it without a key.",
        advice: "Create a key in the settings.")
      return
    }
    guard let engine = engines.engine as? Engine else {
      failure = ChatFailure("The server is off", cause: "No model is loaded.", advice: "Choose a model in the library.")
      return
    }
    var options = ServerOptions()
    options.port = port
    if onNetwork { options.host = "0.0.0.0" }
    if !key.isEmpty { options.apiKeys = [key] }
    options.accessLog = { line in Task { @MainActor [weak self] in self?.note(line) } }
    if let name = engines.modelName { options.modelNames = [name] }
    do {
      let started = try Server.start(engine, options: options)
      server = started
      activity = activities.begin("Serving a model to other programs")
      url = started.url
      failure = nil
    } catch {
      failure = ChatFailure("The server cannot listen on port \(port)", error)
    }
  }

  private func note(_ line: String) {
    log.append(line)
    if log.count > Self.mostLogLines { log.removeFirst(log.count - Self.mostLogLines) }
  }

  /// Gives requests in flight two seconds to finish, then closes the port. Call it before unloading the model.
  public func turnOff() async {
    let old = server
    server = nil
    url = nil
    await old?.shutDown(drainSeconds: 2)
    if server == nil, let ended = activity {
      activity = nil
      activities.end(ended)
    }
  }
}
