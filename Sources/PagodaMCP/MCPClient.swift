// MCPClient: a session with one server of tools: its list of tools, and their calls.
import Foundation
import PagodaKit

/// A session with one server of the Model Context Protocol.
///
/// ```swift
/// let client = MCPClient(MCPServer(name: "weather", command: "python3", arguments: ["weather.py"]))
/// let tools = try await client.tools { call in await askTheUser(call) }
/// let session = ChatSession(engine, tools: tools)
/// ```
public actor MCPClient {
  /// The revision of the protocol that is offered to servers.
  public static let protocolVersion = "2025-06-18"

  /// The server.
  public nonisolated let server: MCPServer
  private let transport: any Transport
  private var waiting: [Int: CheckedContinuation<JSONValue, any Error>] = [:]
  private var lastID = 0
  private var opening: Task<Void, any Error>?
  private var endReason: String?

  /// A session that begins with the first use.
  public init(_ server: MCPServer) {
    self.server = server
    switch server.connection {
    case .program(let command, let arguments, let environment):
      #if os(macOS) || os(Linux)
      transport = ProgramTransport(server.name, command, arguments, environment)
      #else
      _ = (command, arguments, environment)
      transport = NoTransport(name: server.name)
      #endif
    case .address(let url, let headers): transport = AddressTransport(server.name, url, headers)
    }
  }

  /// The server's tools as declarations.
  public func definitions() async throws -> [ToolDefinition] {
    try await connect()
    var (found, cursor): ([ToolDefinition], String?) = ([], nil)
    repeat {
      let parameters = cursor.map { JSONValue.object(["cursor": .string($0)]) } ?? .object([])
      let page = try await request("tools/list", parameters)
      for tool in page["tools"]?.arrayValue ?? [] {
        guard let name = tool["name"]?.stringValue else { continue }
        found.append(
          ToolDefinition(
            name: name, description: tool["description"]?.stringValue ?? "",
            parameters: tool["inputSchema"]?.text ?? #"{"type":"object","properties":{}}"#))
      }
      cursor = page["nextCursor"]?.stringValue
    } while cursor != nil && found.count < 1000
    return found
  }

  /// The server's tools for a ``ChatSession``. Before each call, `consent` is asked; a call that it refuses is not made,
  /// and the model is told so.
  public func tools(consent: @escaping @Sendable (ToolCall) async -> Bool) async throws -> [Tool] {
    try await definitions().map { definition in
      Tool(definition) { [self] call in
        guard await consent(call) else { throw MCPError(server: server.name, message: "the user refused this call") }
        return try await self.call(call.name, arguments: call.arguments)
      }
    }
  }

  /// Calls a tool. `arguments` is a JSON object. Returns the text of its result; throws if the tool reports an error.
  public func call(_ name: String, arguments: String) async throws -> String {
    guard let values = JSONValue.parse(arguments.isEmpty ? "{}" : arguments), values.objectValue != nil else {
      throw MCPError(server: server.name, message: "the arguments of \(name) are not a JSON object: \(arguments)")
    }
    try await connect()
    let result = try await request("tools/call", .object(["name": .string(name), "arguments": values]))
    let text = (result["content"]?.arrayValue ?? []).map(Self.text).joined(separator: "\n")
    if result["isError"]?.boolValue == true { throw MCPError(server: server.name, message: text) }
    return text.isEmpty ? result["structuredContent"]?.text ?? "" : text
  }

  /// Ends the session, and the program if one was started.
  public func close() async {
    end("the session was closed")
    await transport.close()
  }

  /// Whether the server or this side has ended the session, which does not begin again.
  package var hasEnded: Bool { endReason != nil }

  /// Models read text: other content is named.
  private static func text(_ part: JSONValue) -> String {
    switch part["type"]?.stringValue {
    case "text": part["text"]?.stringValue ?? ""
    case "resource":
      part["resource"]?["text"]?.stringValue ?? "[a resource: \(part["resource"]?["uri"]?.stringValue ?? "")]"
    case "resource_link": "[a link: \(part["uri"]?.stringValue ?? "")]"
    case let other: "[\(other ?? "content") that is not text]"
    }
  }
}

extension MCPClient {
  /// Begins the session once; later callers wait for the first.
  private func connect() async throws {
    if let endReason { throw MCPError(server: server.name, message: endReason) }
    let task = opening ?? Task { try await self.open() }
    opening = task
    do { try await task.value } catch {
      if opening == task { opening = nil }
      throw error
    }
  }

  private func open() async throws {
    try await transport.open(
      receive: { text in Task { await self.take(text) } }, ended: { reason in Task { await self.end(reason) } })
    let client = JSONValue.object(["name": .string("pagoda"), "version": .string(PagodaVersion.current)])
    _ = try await request(
      "initialize",
      .object([
        "protocolVersion": .string(Self.protocolVersion), "capabilities": .object([]), "clientInfo": client,
      ]))
    try await transport.send(Self.message("notifications/initialized", .object([])))
  }

  /// Sends a request and waits for its answer. A cancelled task tells the server so.
  private func request(_ method: String, _ parameters: JSONValue) async throws -> JSONValue {
    if let endReason { throw MCPError(server: server.name, message: endReason) }
    lastID += 1
    let id = lastID
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiting[id] = continuation
        if Task.isCancelled { return cancel(id) }
        Task {
          do { try await self.transport.send(Self.message(method, parameters, id)) } catch { self.fail(id, error) }
        }
      }
    } onCancel: {
      Task { await self.cancel(id) }
    }
  }

  private static func message(_ method: String, _ parameters: JSONValue, _ id: Int? = nil) -> String {
    var members = [JSONValue.Member(key: "jsonrpc", value: .string("2.0"))]
    if let id { members.append(.init(key: "id", value: .integer(Int64(id)))) }
    members.append(.init(key: "method", value: .string(method)))
    members.append(.init(key: "params", value: parameters))
    return JSONValue.object(members).text
  }

  private func cancel(_ id: Int) {
    guard let waiter = waiting.removeValue(forKey: id) else { return }
    waiter.resume(throwing: CancellationError())
    let parameters = JSONValue.object(["requestId": .integer(Int64(id))])
    Task { try? await self.transport.send(Self.message("notifications/cancelled", parameters)) }
  }

  private func fail(_ id: Int, _ error: any Error) { waiting.removeValue(forKey: id)?.resume(throwing: error) }

  private func end(_ reason: String) {
    endReason = endReason ?? reason
    for (_, waiter) in waiting { waiter.resume(throwing: MCPError(server: server.name, message: reason)) }
    waiting = [:]
  }

  /// A message of the server: an answer, or a request of its own, of which only `ping` is supported.
  private func take(_ text: String) async {
    guard let message = JSONValue.parse(text) else { return }  // servers that log to their output
    if let method = message["method"]?.stringValue {
      guard let id = message["id"] else { return }
      let answer: JSONValue =
        method == "ping"
        ? .object(["jsonrpc": .string("2.0"), "id": id, "result": .object([])])
        : .object([
          "jsonrpc": .string("2.0"), "id": id,
          "error": .object(["code": .integer(-32601), "message": .string("\(method) is not supported")]),
        ])
      try? await transport.send(answer.text)
      return
    }
    guard let id = message["id"]?.intValue, let waiter = waiting.removeValue(forKey: Int(id)) else { return }
    if let error = message["error"] {
      let reason = error["message"]?.stringValue ?? "the server reports an error"
      waiter.resume(
        throwing: MCPError(server: server.name, message: reason, code: error["code"]?.intValue.map { Int($0) }))
    } else {
      waiter.resume(returning: message["result"] ?? .null)
    }
  }
}

#if !os(macOS) && !os(Linux)
/// Systems on which a program cannot be started.
private struct NoTransport: Transport {
  var name: String
  func open(
    receive: @escaping @Sendable (String) -> Void, ended: @escaping @Sendable (String) -> Void
  ) async throws { throw MCPError(server: name, message: "this system starts no programs; use an address") }
  func send(_ message: String) async throws {}
  func close() async {}
}
#endif
