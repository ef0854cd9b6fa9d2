// Lists the tools of a server and calls some of them, for tests with real servers.
// Usage: MCPProbe (URL | COMMAND ARGUMENT...) -- (TOOL JSON)...   A tool named in PROBE_REFUSE is refused.
import Foundation
import PagodaKit
import PagodaMCP

let given = Array(CommandLine.arguments.dropFirst())
let split = given.firstIndex(of: "--") ?? given.endIndex
let target = Array(given[..<split])
let calls = given[split...].dropFirst()
let server =
  target[0].hasPrefix("http")
  ? MCPServer(name: "probe", url: URL(string: target[0])!)
  : MCPServer(name: "probe", command: target[0], arguments: Array(target.dropFirst()))
let client = MCPClient(server)
let refused = ProcessInfo.processInfo.environment["PROBE_REFUSE"]
do {
  for tool in try await client.definitions() { print("tool", tool.name, tool.parameters) }
  let tools = try await client.tools { call in call.name != refused }
  for (name, arguments) in zip(calls, calls.dropFirst()) where tools.contains(where: { $0.definition.name == name }) {
    if name == refused {
      print("refused", name)
      continue
    }
    do { print("result", try await client.call(name, arguments: arguments)) } catch {
      print("error", error.localizedDescription)
    }
  }
  await client.close()
} catch {
  print("failed", error.localizedDescription)
  await client.close()
  exit(1)
}
