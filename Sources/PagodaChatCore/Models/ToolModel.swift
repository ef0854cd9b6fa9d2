// ToolModel: the servers of tools that chats may use, and the user's consent to each call.
import Foundation
import Observation
import PagodaKit
import PagodaMCP

/// A server of tools as the app uses it; implemented by ``MCPClient``.
public protocol ToolProvider: Sendable {
  /// Its tools.
  func definitions() async throws -> [ToolDefinition]
  /// Calls one of them.
  func call(_ name: String, arguments: String) async throws -> String
  /// Ends the session.
  func close() async
}

extension MCPClient: ToolProvider {}

/// What the user decided about a tool.
public enum ToolConsent: String, Codable, Hashable, Sendable {
  /// Calls are made without asking.
  case always
  /// Calls are refused without asking.
  case never
}

/// A call that waits for the user's consent.
public struct ToolQuestion: Hashable, Sendable, Identifiable {
  /// The server's name.
  public var server: String
  /// The call.
  public var call: ToolCall
  /// The call's identity.
  public let id = UUID()
}

/// The servers of tools.
@MainActor @Observable
public final class ToolModel {
  /// State of a server.
  public enum State: Hashable, Sendable {
    /// Its tools are being read.
    case connecting
    /// Its tools can be called.
    case ready(tools: [String])
    /// It cannot be used.
    case failed(ChatFailure)
  }

  /// The state of each enabled server, by name.
  public private(set) var states: [String: State] = [:]
  /// The call that waits for the user.
  public private(set) var question: ToolQuestion?
  /// What models see; names that two servers use are preceded by the server's.
  public private(set) var definitions: [ToolDefinition] = []

  private struct Entry {
    var server: String
    var name: String  // at the server
  }
  let settings: SettingsModel
  private let connect: @Sendable (MCPServer) -> any ToolProvider
  private var providers: [String: any ToolProvider] = [:]
  private var entries: [String: Entry] = [:]  // by the name that models see
  private var waiting: [(question: ToolQuestion, answer: CheckedContinuation<Bool, Never>)] = []

  /// The servers of the settings.
  public init(
    settings: SettingsModel, connect: @escaping @Sendable (MCPServer) -> any ToolProvider = { MCPClient($0) }
  ) {
    self.settings = settings
    self.connect = connect
  }

  /// Adds or replaces a server.
  public func save(_ server: MCPServer) {
    settings.settings.toolServers.removeAll { $0.name == server.name }
    settings.settings.toolServers.append(server)
  }

  /// Adds a server by an address, or by a command with arguments that are separated by spaces.
  public func add(_ name: String, _ target: String) {
    let name = name.trimmingCharacters(in: .whitespaces)
    let words = target.split(separator: " ").map(String.init)
    guard !name.isEmpty, let first = words.first else { return }
    if let url = URL(string: first), ["http", "https"].contains(url.scheme ?? "") {
      save(MCPServer(name: name, url: url))
    } else {
      save(MCPServer(name: name, command: first, arguments: Array(words.dropFirst())))
    }
  }

  /// Removes a server, and what was decided about its tools.
  public func remove(_ name: String) {
    settings.settings.toolServers.removeAll { $0.name == name }
    settings.settings.toolConsents = settings.settings.toolConsents.filter { !$0.key.hasPrefix("\(name)/") }
  }

  /// Connects to the enabled servers again and reads their tools.
  public func refresh() async {
    for provider in providers.values { await provider.close() }
    let servers = settings.settings.toolServers.filter(\.isEnabled)
    providers = Dictionary(uniqueKeysWithValues: servers.map { ($0.name, connect($0)) })
    states = Dictionary(uniqueKeysWithValues: servers.map { ($0.name, .connecting) })
    var found: [(server: String, tool: ToolDefinition)] = []
    for server in servers {
      do {
        let tools = try await providers[server.name]?.definitions() ?? []
        found += tools.map { (server.name, $0) }
        states[server.name] = .ready(tools: tools.map(\.name))
      } catch {
        states[server.name] = .failed(ChatFailure("\(server.name) cannot be used", error))
      }
    }
    take(found)
  }

  private func take(_ found: [(server: String, tool: ToolDefinition)]) {
    let counts = Dictionary(found.map { ($0.tool.name, 1) }, uniquingKeysWith: +)
    (definitions, entries) = ([], [:])
    for (server, tool) in found {
      var definition = tool
      if counts[tool.name] != 1 { definition.name = "\(server)_\(tool.name)" }
      definitions.append(definition)
      entries[definition.name] = Entry(server: server, name: tool.name)
    }
  }

  /// Runs a call of a model after the user's consent. Returns its result or, for the model to read, why there is none.
  public func run(_ call: ToolCall) async -> String {
    guard let entry = entries[call.name], let provider = providers[entry.server] else {
      return "Error: there is no tool named \(call.name)."
    }
    guard await isAllowed(call, entry) else { return "Error: the user refused this call." }
    do {
      return try await provider.call(entry.name, arguments: call.arguments)
    } catch {
      return "Error: \(error.localizedDescription)"
    }
  }

  private func isAllowed(_ call: ToolCall, _ entry: Entry) async -> Bool {
    switch settings.settings.toolConsents["\(entry.server)/\(entry.name)"] {
    case .always: return true
    case .never: return false
    case nil: break
    }
    let asked = ToolQuestion(server: entry.server, call: call)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { answer in
        if Task.isCancelled { return answer.resume(returning: false) }
        waiting.append((asked, answer))
        if question == nil { question = asked }
      }
    } onCancel: {
      Task { @MainActor in self.end(asked.id, allowed: false) }
    }
  }

  /// The user's answer to the question. `always` also decides later calls of the same tool.
  public func answer(_ isAllowed: Bool, always: Bool = false) {
    guard let asked = question else { return }
    if always, let entry = entries[asked.call.name] {
      settings.settings.toolConsents["\(entry.server)/\(entry.name)"] = isAllowed ? .always : .never
    }
    end(asked.id, allowed: isAllowed)
  }

  private func end(_ id: UUID, allowed: Bool) {
    guard let index = waiting.firstIndex(where: { $0.question.id == id }) else { return }
    waiting.remove(at: index).answer.resume(returning: allowed)
    question = waiting.first?.question
  }
}
