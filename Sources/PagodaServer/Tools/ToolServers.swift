// ToolServers: what the server needs of servers of tools, which the administrator configures and the chat page calls.
import Foundation
import PagodaKit

/// Servers of tools, such as those of the Model Context Protocol. Any thread may use it.
package protocol ToolServers: Sendable {
  /// What is known now; begins to connect to those that are not connected.
  func states() -> [ToolServerState]
  /// Calls a tool with a JSON object. Throws what the tool or its server reports.
  func call(_ tool: String, of server: String, arguments: String) async throws -> String
}

/// A server of tools and how far the connection is.
package struct ToolServerState: Sendable {
  /// Progress of the connection.
  package enum Progress: Sendable {
    case connecting
    case ready([ToolDefinition])
    case failed(String)
  }

  package var name: String
  package var progress: Progress

  package init(name: String, progress: Progress) {
    self.name = name
    self.progress = progress
  }
}

/// Calls in flight: each may run a program, and there are as many as clients ask for otherwise.
final class ToolCallCount: @unchecked Sendable {
  static let maximum = 32
  private let lock = NSLock()
  private var count = 0

  func begin() -> Bool {
    lock.withLock {
      if count == Self.maximum { return false }
      count += 1
      return true
    }
  }

  func end() { lock.withLock { count -= 1 } }
}
