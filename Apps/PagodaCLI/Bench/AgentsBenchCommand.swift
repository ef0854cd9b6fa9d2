// pagoda bench agents: agents with tool loops over one system prompt, against any server that speaks OpenAI's chat.
import Foundation
import PagodaKit
import PagodaServer

extension Command {
  static let benchAgents = Command(
    name: "bench agents",
    summary: "Runs agents with tool loops against a running server and measures them.",
    operands: "",
    notes: """
      All agents share a system prompt and tools. Each has its own task and sends its whole conversation with every
      turn; the model's call, or its text, is followed by a result. Halfway through, each agent forks: its branches continue
      from the same conversation with different results. Lengths are in words of pseudo-random text, one or two tokens each.
      Fairness is Jain's index over the agents' turns per minute: 1 if all are served equally, 1/N if only one is served.
      Ctrl-C, or --duration, ends the load and reports what was measured until then.
      """,
    groups: [
      OptionGroup(
        "Server",
        [
          Option("base-url", value: "URL", help: "the server (default http://127.0.0.1:8080)"),
          Option("model", short: "m", value: "NAME", help: "model to ask for (default: the server's first)"),
          Option("api-key", value: "KEY", help: "sent as a bearer token"),
        ]),
      OptionGroup(
        "Agents",
        [
          Option("agents", value: "N", help: "number of concurrent agents (default 8)"),
          Option("turns", value: "N", help: "turns per agent (default 6)"),
          Option("forks", value: "N", help: "additional branches of each agent, halfway through (default 1)"),
          Option("system-words", value: "N", help: "length of the shared system prompt (default 400)"),
          Option("context-words", value: "N", help: "length of the document in each agent's task (default 100)"),
          Option("result-words", value: "N", help: "length of a tool's result (default 60)"),
          Option("output-len", value: "N", help: "maximum tokens per answer (default 48)"),
          Option("tool-choice", value: "HOW", help: "auto (default), required, or none to send no tools"),
          Option("duration", value: "SECONDS", help: "end the load after this time (default: after the last turn)"),
          Option("seed", value: "N", help: "seed of all texts (default 0)"),
          Option("json", help: "print one JSON object instead of the table"),
        ]),
    ],
    run: runAgentsBench)
}

private func runAgentsBench(_ arguments: Arguments) async throws -> Int32 {
  try arguments.refusePositionals()
  signal(SIGPIPE, SIG_IGN)
  let load = try AgentLoad(arguments)
  var target = try ServeTarget(arguments)
  target.path = "/v1/chat/completions"
  let model = try arguments.string("model") ?? target.firstModel()
  let progress = ProgressLine("\(load.agents) agents")
  let end = LoadEnd()
  Interrupts.shared.onInterrupt {
    if !end.reach() { _exit(130) }
  }
  if let duration = try arguments.integer("duration", in: 1...1_000_000) {
    DispatchQueue.global().asyncAfter(deadline: .now() + Double(duration)) { end.reach() }
  }
  let (turns, seconds) = await load.run(target: target, model: model, end: end) { progress.show($0) }
  progress.clear()
  let report = AgentReport(turns: turns, seconds: seconds, load: load, isCut: end.isEarly)
  Terminal.write(arguments.has("json") ? report.json.text + "\n" : report.table(width: Style.width(of: STDOUT_FILENO)))
  return turns.contains { $0.error == nil } ? 0 : 1
}
