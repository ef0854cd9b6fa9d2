// What was decided about tools for good, and the way back to being asked.

/// A decision about all later calls of a tool.
public struct ToolDecision: Hashable, Sendable, Identifiable {
  /// The server's name.
  public var server: String
  /// The tool's name at the server.
  public var tool: String
  /// What was decided.
  public var consent: ToolConsent
  /// Server and tool.
  public var id: String { "\(server)/\(tool)" }

  /// The decision in words.
  public var text: String {
    switch consent {
    case .always: localized("\(tool) is always allowed")
    case .never: localized("\(tool) is always refused")
    }
  }
}

extension ToolModel {
  /// The decisions about a server's tools, by the tools' names.
  public func decisions(of server: String) -> [ToolDecision] {
    settings.settings.toolConsents.compactMap { key, consent in
      guard key.hasPrefix("\(server)/") else { return nil }
      return ToolDecision(server: server, tool: String(key.dropFirst(server.count + 1)), consent: consent)
    }
    .sorted { $0.tool < $1.tool }
  }

  /// Asks again before the next call of the tool.
  public func forget(_ decision: ToolDecision) { settings.settings.toolConsents[decision.id] = nil }
}
