// The routes of the chat page's tools: the list of those that the administrator configured, and their calls.
import Foundation
import PagodaKit

extension ModelHost {
  static let toolRoutes: [String: [String: Service.Work]] = [
    "/tools": ["GET": .server { host, _ in host.toolList() }],
    "/tools/call": ["POST": .host(.openAI) { try $0.callTool($1) }],
  ]

  /// How long a call may take, and how much of its result is kept.
  private static let (callSeconds, resultBytes) = (300, 256 << 10)

  private func toolList() -> HTTPResponse {
    let rows = (options.toolServers?.states() ?? []).map { server -> JSONValue in
      var members: [JSONValue.Member] = [.init(key: "name", value: .string(server.name))]
      var tools: [ToolDefinition] = []
      switch server.progress {
      case .connecting: members.append(.init(key: "state", value: .string("connecting")))
      case .failed(let reason):
        members.append(.init(key: "state", value: .string("failed")))
        members.append(.init(key: "error", value: .string(reason)))
      case .ready(let found):
        members.append(.init(key: "state", value: .string("ready")))
        tools = found
      }
      members.append(.init(key: "tools", value: .array(tools.map(Self.row))))
      return .object(members)
    }
    return .json(.object(["servers": .array(rows)]))
  }

  private static func row(_ tool: ToolDefinition) -> JSONValue {
    .object([
      "name": .string(tool.name), "description": .string(tool.description),
      "parameters": JSONValue.parse(tool.parameters) ?? .object([]),
    ])
  }

  private func callTool(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .toolCall)
    guard let server = try fields.string("server", maximumBytes: 200) else { throw fields.missing("server") }
    guard let name = try fields.string("name", maximumBytes: 200) else { throw fields.missing("name") }
    let arguments = JSONValue.object(try fields.object("arguments")?.members ?? [])
    guard let tools = options.toolServers else {
      throw APIError.invalid(
        "this server calls no tools; start it with --mcp FILE", code: "not_allowed", status: 403)
    }
    try check(name, of: server, tools)
    guard toolCalls.begin() else {
      throw APIError.overloaded("\(ToolCallCount.maximum) calls of tools are running, the most at once")
    }
    let task = Task { [toolCalls] in
      defer { toolCalls.end() }
      let (text, isError) = await Self.result { try await tools.call(name, of: server, arguments: arguments.text) }
      exchange.reply(.whole(.json(.object(["content": .string(text), "is_error": .bool(isError)]))))
    }
    exchange.onGone { task.cancel() }
  }

  private func check(_ name: String, of server: String, _ tools: any ToolServers) throws {
    guard let state = tools.states().first(where: { $0.name == server }) else {
      throw APIError.invalid(
        "there is no server of tools named '\(server)'", param: "server", code: "not_found", status: 404)
    }
    // Of a server that is not connected no tool is known; the call connects to it, or says why not.
    guard case .ready(let found) = state.progress, !found.contains(where: { $0.name == name }) else { return }
    throw APIError.invalid("'\(server)' has no tool named '\(name)'", param: "name", code: "not_found", status: 404)
  }

  /// The text of a result, within limits of time and length, or why there is none.
  private static func result(_ call: @escaping @Sendable () async throws -> String) async -> (String, Bool) {
    do {
      let text = try await withThrowingTaskGroup(of: String?.self) { group in
        group.addTask { try await call() }
        group.addTask {
          try await Task.sleep(for: .seconds(callSeconds))
          return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
      }
      guard let text else { return ("the call took longer than \(callSeconds) seconds", true) }
      let more = text.utf8.count - resultBytes
      if more <= 0 { return (text, false) }
      return (String(decoding: text.utf8.prefix(resultBytes), as: UTF8.self) + "\n[\(more) more bytes]", false)
    } catch {
      return (error.localizedDescription, true)
    }
  }
}

extension FieldTable {
  static let toolCall = FieldTable(known: ["server", "name", "arguments"], ignored: [], refused: [:])
}
