// The entry points of the client of the Model Context Protocol; only type-checked, against the debug build.
import Foundation
import PagodaKit
import PagodaMCP

func tools(_ engine: Engine) async throws {
  let program = MCPServer(name: "files", command: "server", arguments: ["."], environment: ["A": "b"])
  let remote = MCPServer(name: "search", url: URL(filePath: "/"), headers: ["Authorization": "Bearer x"])
  print(remote, MCPClient.protocolVersion, MCPError(server: "files", message: "gone", code: -1))
  let client = MCPClient(program)
  print(try await client.definitions(), try await client.call("read", arguments: "{}"))
  let session = ChatSession(engine, tools: try await client.tools { call in call.name != "delete" })
  print(session)
  await client.close()
}
