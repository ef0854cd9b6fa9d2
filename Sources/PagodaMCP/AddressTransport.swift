// AddressTransport: "streamable HTTP": each message is a POST; answers come as JSON or as a stream of events.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

final class AddressTransport: Transport, @unchecked Sendable {
  private let name: String
  private let url: URL
  private let headers: [String: String]
  private let session = URLSession(configuration: .ephemeral)
  private let lock = NSLock()
  private var sessionID: String?  // guarded by `lock`, as is `receive`
  private var receive: (@Sendable (String) -> Void)?

  init(_ name: String, _ url: URL, _ headers: [String: String]) {
    self.name = name
    self.url = url
    self.headers = headers
  }

  func open(
    receive: @escaping @Sendable (String) -> Void, ended: @escaping @Sendable (String) -> Void
  ) async throws { lock.withLock { self.receive = receive } }

  func send(_ message: String) async throws {
    var request = request("POST")
    request.httpBody = Data(message.utf8)
    let (data, response) = try await answer(to: request)
    if let id = header("Mcp-Session-Id", of: response) { lock.withLock { sessionID = id } }
    guard (200...299).contains(response.statusCode) else {
      let text = String(decoding: data.prefix(300), as: UTF8.self)
      throw MCPError(server: name, message: "the address answers \(response.statusCode) \(text)")
    }
    let isStream = header("Content-Type", of: response)?.hasPrefix("text/event-stream") == true
    let text = String(decoding: data, as: UTF8.self)
    for part in isStream ? EventText.messages(in: text) : [text] where !part.isEmpty {
      lock.withLock { receive }?(part)
    }
  }

  /// Ends the session at the server, if there is one.
  func close() async {
    if lock.withLock({ sessionID }) != nil { _ = try? await answer(to: request("DELETE")) }
    session.invalidateAndCancel()
  }

  private func request(_ method: String) -> URLRequest {
    var request = URLRequest(url: url, timeoutInterval: 300)
    request.httpMethod = method
    for (field, value) in headers { request.setValue(value, forHTTPHeaderField: field) }
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.setValue("application/json, text/event-stream", forHTTPHeaderField: "Accept")
    request.setValue(MCPClient.protocolVersion, forHTTPHeaderField: "MCP-Protocol-Version")
    if let id = lock.withLock({ sessionID }) { request.setValue(id, forHTTPHeaderField: "Mcp-Session-Id") }
    return request
  }

  private func answer(to request: URLRequest) async throws -> (Data, HTTPURLResponse) {
    do {
      let (data, response) = try await session.data(for: request)
      guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
      return (data, http)
    } catch let error as URLError {
      throw MCPError(server: name, message: "\(url.absoluteString) cannot be reached: \(error.localizedDescription)")
    }
  }

  private func header(_ field: String, of response: HTTPURLResponse) -> String? {
    response.value(forHTTPHeaderField: field)
  }
}

/// Server-sent events.
enum EventText {
  /// The data of each event; lines of one event are joined.
  static func messages(in text: String) -> [String] {
    text.replacingOccurrences(of: "\r\n", with: "\n").components(separatedBy: "\n\n").compactMap { event in
      let lines = event.split(separator: "\n").filter { $0.hasPrefix("data:") }
      guard !lines.isEmpty else { return nil }
      return lines.map { line in String(line.dropFirst(5).drop { $0 == " " }) }.joined(separator: "\n")
    }
  }
}
