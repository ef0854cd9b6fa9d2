// Lists the tools of a server, and lets a scripted model call some of them in a chat, for tests with real servers.
// Usage: MCPProbe (URL | COMMAND ARGUMENT...) -- (TOOL JSON)...   Calls of a tool named in PROBE_REFUSE are refused.
import Foundation
import PagodaKit
import PagodaMCP
import PagodaTesting

let given = Array(CommandLine.arguments.dropFirst())
let split = given.firstIndex(of: "--") ?? given.endIndex
let target = Array(given[..<split])
let words = Array(given[split...].dropFirst())
let server =
  target[0].hasPrefix("http")
  ? MCPServer(name: "probe", url: URL(string: target[0])!)
  : MCPServer(name: "probe", command: target[0], arguments: Array(target.dropFirst()))
let client = MCPClient(server)
let refused = ProcessInfo.processInfo.environment["PROBE_REFUSE"]
do {
  for tool in try await client.definitions() { print("tool", tool.name, tool.parameters) }
  let tools = try await client.tools { call in call.name != refused }
  for index in stride(from: 0, to: words.count - 1, by: 2) {
    let session = ChatSession(
      ScriptedEngine(.toolCall(words[index], arguments: words[index + 1]), "Done."), tools: tools)
    _ = try await session.respond(to: "Go")
    print("result", session.history.last { $0.role == .tool }?.content ?? "none")
  }
  await client.close()
} catch {
  print("failed", error.localizedDescription)
  await client.close()
  exit(1)
}
