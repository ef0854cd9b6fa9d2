// pagoda ps and pagoda stop: the servers on this machine.
import Foundation
import PagodaKit

extension Command {
  static let ps = Command(
    name: "ps",
    summary: "Lists the servers running on this machine.",
    operands: "",
    notes: "Shows the servers that this user started with pagoda serve.",
    groups: [OptionGroup("Options", [Option("json", help: "print a JSON array")])],
    run: runList)

  static let stop = Command(
    name: "stop",
    summary: "Stops servers on this machine.",
    operands: "[PROCESS|PORT|MODEL]",
    notes: "Without an operand it stops the only server. Answers in flight may finish, as after Ctrl-C.",
    groups: [OptionGroup("Options", [Option("all", help: "stop all of them")])],
    run: runStop)
}

private func runList(_ arguments: Arguments) async throws -> Int32 {
  try arguments.refusePositionals()
  let servers = ServerRecord.running()
  if arguments.has("json") {
    let rows = servers.map { server in
      JSONValue.object([
        "process": .integer(Int64(server.process)), "url": .string(server.url), "model": .string(server.model),
        "started": .integer(Int64(server.started.timeIntervalSince1970)),
      ])
    }
    Terminal.write(JSONValue.array(rows).text + "\n")
  } else if servers.isEmpty {
    Terminal.write(fittingLine("No server is running; pagoda serve starts one.") + "\n")
  } else {
    let rows = servers.map { ("\($0.process)  \($0.model)", "\($0.url)  since \(age($0.started))") }
    Terminal.write(columns(rows, width: Style.width(of: STDOUT_FILENO)))
  }
  return 0
}

private func age(_ date: Date) -> String { readable(seconds: Date().timeIntervalSince(date)) }

private func runStop(_ arguments: Arguments) async throws -> Int32 {
  guard arguments.positionals.count <= 1 else { throw UsageError("name one server") }
  let servers = ServerRecord.running()
  var chosen = servers
  if let word = arguments.positionals.first {
    chosen = servers.filter { String($0.process) == word || $0.model == word || $0.url.hasSuffix(":\(word)/") }
    if chosen.isEmpty {
      throw CommandFailure("no server has the process id, port or model '\(word)'; pagoda ps lists them")
    }
  }
  if chosen.isEmpty { throw CommandFailure("no server is running") }
  if chosen.count > 1 && !arguments.has("all") {
    throw UsageError("\(chosen.count) servers are running; name one (pagoda ps lists them) or use --all")
  }
  for server in chosen { kill(server.process, SIGTERM) }
  for server in chosen {
    // Its record disappears when it ends; its process id may remain until its parent reaps it.
    while ServerRecord.running().contains(where: { $0.process == server.process }) {
      try await Task.sleep(for: .milliseconds(50))
    }
    Terminal.say("\(server.model) at \(server.url) has ended")
  }
  return 0
}
