// pagoda stage: runs some layers of a model for a server on another machine.
import Foundation
import PagodaKit

extension Command {
  static let stage = Command(
    name: "stage",
    summary: "Runs some layers of a model for `pagoda serve --pipeline-stages` on another machine.",
    operands: "",
    notes: """
      The server assigns the layers when it connects; both need the same model. The connection is neither encrypted
      nor authenticated: listen only on a trusted network. This command is not needed under mpirun.
      """,
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model, SharedOptions.shape,
          Option("listen", value: "ADDRESS", help: "host:port where the server connects (default 127.0.0.1:9400)"),
          Option(
            "device", value: "NAME", help: "auto (default), cpu, metal, cuda, software (GPU kernels) or reference"),
          Option("threads", value: "N", help: "worker threads (default: one per usable core)"),
          Option("weight-cache", value: "DIR", help: "cache repacked weights in this folder for a faster start"),
          Option("weight-cache-disk", value: "SIZE", help: "maximum size of that folder (default 64GiB)"),
          Option("no-weight-cache", help: "repack weights at every start"),
          SharedOptions.pipelineTimeout,
        ])
    ],
    run: runStage)
}

private func runStage(_ arguments: Arguments) async throws -> Int32 {
  try arguments.refusePositionals()
  try await arguments.runStage(address: arguments.string("listen") ?? "127.0.0.1:9400")
  return 0
}

extension Arguments {
  func runStage(address: String?) async throws {
    var options = try engineOptions()
    try await offerToFetch(for: &options)
    signal(SIGPIPE, SIG_IGN)
    signal(SIGTERM) { _ in _exit(0) }  // a stage has nothing to save
    try await PipelineStage.run(try modelSource(), options: options, address: address) { Terminal.note("stage: \($0)") }
  }
}
