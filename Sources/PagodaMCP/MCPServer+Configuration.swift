// The servers of a configuration file as other programs have it: {"mcpServers": {"files": {"command": "npx", "args": [...]}}}.
import Foundation
import PagodaKit

extension MCPServer {
  /// Reads the text of a configuration. Throws an error that names the server; its name is empty for the whole text.
  package static func list(configuration text: String) throws -> [MCPServer] {
    let value: JSONValue
    do { value = try JSONValue.parse(Array(text.utf8), limits: JSONValue.Limits()) } catch {
      throw MCPError(server: "", message: "it is not valid JSON: \(error.message) (at byte \(error.offset))")
    }
    guard let servers = value["mcpServers"]?.objectValue else {
      throw MCPError(server: "", message: "it has no object named mcpServers")
    }
    if servers.contains(where: { $0.key.isEmpty || $0.key.utf8.count > 200 }) {
      throw MCPError(server: "", message: "the name of a server is empty or longer than 200 bytes")
    }
    return try servers.filter { $0.value["disabled"]?.boolValue != true }.map { try MCPServer($0.key, $0.value) }
  }

  private init(_ name: String, _ value: JSONValue) throws {
    func refuse(_ reason: String) -> MCPError { MCPError(server: name, message: reason) }
    func strings(_ key: String) throws -> [String: String] {
      guard let given = value[key] else { return [:] }
      var found: [String: String] = [:]
      for member in given.objectValue ?? [.init(key: "", value: .null)] {
        guard let text = member.value.stringValue else { throw refuse("\(key) must be an object of strings") }
        found[member.key] = text
      }
      return found
    }
    switch (value["command"]?.stringValue, value["url"]?.stringValue) {
    case (let command?, nil):
      let arguments = try (value["args"]?.arrayValue ?? []).map { argument -> String in
        guard let text = argument.stringValue else { throw refuse("args must be an array of strings") }
        return text
      }
      self.init(name: name, command: command, arguments: arguments, environment: try strings("env"))
    case (nil, let address?):
      if value["type"]?.stringValue == "sse" { throw refuse("the older transport sse is not supported; use http") }
      guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased() ?? ""), url.host != nil
      else { throw refuse("url is '\(address)'; it must begin with http:// or https://") }
      self.init(name: name, url: url, headers: try strings("headers"))
    default: throw refuse("it needs either command or url")
    }
  }
}
