// HubSettings: which hub, cache and token to use, from the environment variables that huggingface_hub reads.
import Foundation

/// Which hub, cache and token to use.
///
/// ```swift
/// var settings = HubSettings()  // from the environment
/// settings.token = token
/// let model = ModelContainer(.hub("Qwen/Qwen3.5-0.8B", settings: settings))
/// ```
public struct HubSettings: Sendable {
  /// The hub's address, without a trailing slash.
  public var endpoint = "https://huggingface.co"
  /// Sent to the hub only, never to the servers it redirects to.
  public var token: String?
  /// The folder that holds `models--ORG--NAME`.
  public var cacheFolder: String
  /// Whether downloads are disabled.
  public var isOffline = false
  /// A transfer that receives nothing for this many seconds is resumed where it stopped.
  public var stallSeconds: Double = 10
  /// Attempts without a byte of progress before giving up.
  public var maximumAttempts = 5
  /// Sent to the hub as User-Agent.
  public var userAgent = "pagoda"
  /// Called with a sentence before each new attempt, on any thread.
  public var onRetry: (@Sendable (String) -> Void)?

  /// Defaults with the given cache folder.
  public init(cacheFolder: String) { self.cacheFolder = cacheFolder }

  /// HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE, HF_HUB_DOWNLOAD_TIMEOUT.
  public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    func path(_ text: String) -> String { NSString(string: text).expandingTildeInPath }

    let home = environment["HOME"] ?? NSHomeDirectory()
    let caches =
      value("XDG_CACHE_HOME").map(path) ?? home + (Self.isContained(environment) ? "/Library/Caches" : "/.cache")
    let hubHome = value("HF_HOME").map(path) ?? caches + "/huggingface"
    self.init(cacheFolder: value("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE").map(path) ?? hubHome + "/hub")
    if let address = value("HF_ENDPOINT") {
      endpoint = String(address.reversed().drop { $0 == "/" }.reversed())
    }
    let tokenPath = value("HF_TOKEN_PATH").map(path) ?? hubHome + "/token"
    token = Self.clean(value("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN") ?? Self.text(ofFile: tokenPath))
    isOffline = ["1", "ON", "YES", "TRUE"].contains(value("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")?.uppercased())
    if let seconds = value("HF_HUB_DOWNLOAD_TIMEOUT").flatMap(Double.init), seconds > 0, seconds.isFinite {
      stallSeconds = seconds
    }
  }

  // An app on iOS, or in the sandbox of macOS, may write only to Library/Caches in its home.
  private static func isContained(_ environment: [String: String]) -> Bool {
    #if os(iOS)
    true
    #else
    environment["APP_SANDBOX_CONTAINER_ID"] != nil
    #endif
  }

  private static func text(ofFile path: String) -> String? {
    FileManager.default.contents(atPath: path).flatMap { String(data: $0, encoding: .utf8) }
  }

  // A line break in a token would inject a header.
  private static func clean(_ token: String?) -> String? {
    let trimmed = token?.trimmingCharacters(in: .whitespacesAndNewlines)
    return trimmed?.isEmpty == false && trimmed?.contains(where: \.isNewline) == false ? trimmed : nil
  }
}
