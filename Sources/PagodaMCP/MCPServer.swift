// MCPServer: how to reach a server of the Model Context Protocol, and what can go wrong with it.
import Foundation

/// How to reach a server of tools that speaks the Model Context Protocol.
///
/// ```swift
/// let files = MCPServer(name: "files", command: "npx", arguments: ["-y", "@modelcontextprotocol/server-filesystem", "."])
/// let remote = MCPServer(name: "search", url: URL(string: "https://example.com/mcp")!, headers: ["Authorization": "Bearer x"])
/// ```
public struct MCPServer: Codable, Hashable, Sendable, Identifiable {
  /// The way to it.
  public enum Connection: Codable, Hashable, Sendable {
    /// A program that is started and spoken to through its input and output; not on iOS.
    case program(command: String, arguments: [String], environment: [String: String])
    /// An address that takes requests ("streamable HTTP"), with headers for each of them.
    case address(URL, headers: [String: String])
  }

  /// Its name for people; unique in a list of servers.
  public var name: String
  /// The way to it.
  public var connection: Connection
  /// Whether its tools are offered to models.
  public var isEnabled = true
  /// The name.
  public var id: String { name }

  /// A program on this machine, found through PATH unless its path is given.
  public init(name: String, command: String, arguments: [String] = [], environment: [String: String] = [:]) {
    self.name = name
    connection = .program(command: command, arguments: arguments, environment: environment)
  }

  /// A server at an address.
  public init(name: String, url: URL, headers: [String: String] = [:]) {
    self.name = name
    connection = .address(url, headers: headers)
  }
}

/// Why a server of tools cannot be used.
public struct MCPError: LocalizedError, Hashable, Sendable {
  /// The server's name.
  public var server: String
  /// The reason.
  public var message: String
  /// The code that the server gave, as in JSON-RPC; nil if the fault is elsewhere.
  public var code: Int?

  /// Creates one from its values.
  public init(server: String, message: String, code: Int? = nil) {
    self.server = server
    self.message = message
    self.code = code
  }

  /// Server and reason.
  public var errorDescription: String? { "\(server): \(message)" }
}
