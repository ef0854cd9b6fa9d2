// ConfiguredTools: sessions with the MCP servers of a configuration file, for the chat page.
import Foundation
import PagodaKit
import PagodaMCP
import PagodaServer

final class ConfiguredTools: ToolServers, @unchecked Sendable {
  private struct Entry {
    let server: MCPServer
    var client: MCPClient
    var progress: ToolServerState.Progress
    var failed: ContinuousClock.Instant?  // when
  }

  private static let (patience, pause) = (Duration.seconds(120), Duration.seconds(2))
  private let lock = NSLock()
  private var entries: [Entry]  // guarded by `lock`

  /// The servers of `--mcp`, to which it begins to connect; nil without the option.
  init?(_ arguments: Arguments, _ options: ServerOptions) throws {
    guard let path = arguments.string("mcp") else { return nil }
    if options.isInsecure && options.apiKeys.isEmpty && options.namedKeys.isEmpty {
      throw UsageError("--mcp lets clients run programs, so together with --insecure it needs an API key")
    }
    do {
      entries = try MCPServer.list(configuration: try Terminal.readFile(path)).map {
        Entry(server: $0, client: MCPClient($0), progress: .failed("not connected"))
      }
    } catch let error as MCPError {
      throw CommandFailure("--mcp \(path): \(error.server.isEmpty ? error.message : error.localizedDescription)")
    }
    _ = states()
  }

  /// Connects again to servers that have failed, but not more often than a page can ask.
  func states() -> [ToolServerState] {
    lock.withLock {
      for (index, entry) in entries.enumerated() {
        guard case .failed = entry.progress else { continue }
        if entry.failed.map({ $0.duration(to: .now) > Self.pause }) ?? true { connect(index) }
      }
      return entries.map { ToolServerState(name: $0.server.name, progress: $0.progress) }
    }
  }

  func call(_ tool: String, of server: String, arguments: String) async throws -> String {
    guard let client = await client(of: server) else { throw MCPError(server: server, message: "it is not configured") }
    do {
      return try await client.call(tool, arguments: arguments)
    } catch {
      if await client.hasEnded { settle(client, .failed(error.localizedDescription)) }
      throw error
    }
  }

  func close() async {
    for client in lock.withLock({ entries.map(\.client) }) { await client.close() }
  }

  /// The current session, or a new one if the program has exited since the last call.
  private func client(of server: String) async -> MCPClient? {
    guard let found = lock.withLock({ entries.first { $0.server.name == server }?.client }) else { return nil }
    guard await found.hasEnded else { return found }
    await found.close()
    return lock.withLock {
      guard let index = entries.firstIndex(where: { $0.server.name == server }) else { return nil }
      if entries[index].client === found { entries[index].client = MCPClient(entries[index].server) }
      return entries[index].client
    }
  }

  /// Called with the lock held.
  private func connect(_ index: Int) {
    entries[index].progress = .connecting
    let name = entries[index].server.name
    Task {
      guard let client = await client(of: name) else { return }
      let watch = Task {
        try await Task.sleep(for: Self.patience)
        await client.close()
      }
      defer { watch.cancel() }
      do {
        settle(client, .ready(try await client.definitions()))
      } catch {
        await client.close()
        settle(client, .failed(error.localizedDescription))
      }
    }
  }

  private func settle(_ client: MCPClient, _ progress: ToolServerState.Progress) {
    lock.withLock {
      guard let index = entries.firstIndex(where: { $0.client === client }) else { return }
      entries[index].progress = progress
      if case .failed = progress { entries[index].failed = .now }
    }
  }
}
