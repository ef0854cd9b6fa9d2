// The server's entry points; only type-checked, against the debug build.
import PagodaKit
import PagodaServer

func serving(_ engine: Engine) async throws {
  var options = ServerOptions()
  options.namedKeys = [APIKey(name: "ana", key: "secret")] + (try APIKey.parse("ben:other", from: "keys.txt"))
  options.aliases = [ModelAlias("gpt-*", model: "mini")]
  options.prefixSharing = PrefixSharing(folder: "/cache", secretFile: "/secret")
  print(ModelSuggestion(command: "pagoda serve", memoryBytes: 1, limitBytes: 2, contextLength: 3))
  let server = try Server.start(engine, options: options)
  print(server.url)
  await server.shutDown()
  let other = try Server.listen()
  other.serve(engine)
  try await other.serve([ServedModel(name: "mini", source: .folder(path: "/models/a"))], memoryBytes: 1 << 30)
}
