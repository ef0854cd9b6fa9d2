// Runs the adapter on the stubs: null in messages, revisions, incomplete downloads, cancellation. Started by adapter.sh.
import Foundation
@testable import PagodaKit
import PagodaTransformers

@main
struct AdapterTest {
  static func expect(_ condition: Bool, _ what: String) {
    if condition { return }
    print("swift-transformers adapter: \(what)")
    exit(1)
  }

  /// The code of the error that `work` throws; `cancelled` for a CancellationError.
  static func code(_ work: @Sendable () async throws -> Void) async -> String {
    do {
      try await work()
      return "none"
    } catch {
      return error is CancellationError ? "cancelled" : (error as? PagodaError)?.code ?? "\(error)"
    }
  }

  static func fetch(_ id: String, revision: String) async throws {
    guard case .fetched(let model) = ModelSource.transformersHub(id, revision: revision) else { return }
    _ = try await model.fetch { _ in }
  }

  static func main() async throws {
    let tokenizer = try await HubTokenizer(hub: "org/model", revision: "whole")
    let tool = ToolDefinition(name: "f", description: "", parameters: #"{"default":null,"enum":[1,null]}"#)
    let call = ToolCall(id: "1", name: "f", arguments: #"{"a":null,"b":{"c":[null]}}"#)
    let message = Message(role: .assistant, content: "", toolCalls: [call])
    expect(try tokenizer.encode([message], tools: [tool]) == [2, 2], "null does not reach the template")

    expect(
      await code { _ = try await HubTokenizer(hub: "org/model", revision: "none") } == "bad_file",
      "the revision is ignored")
    expect(await code { try await fetch("org/model", revision: "whole") } == "none", "a whole model is refused")
    for partial in ["sharded", "empty"] {
      expect(
        await code { try await fetch("org/model", revision: partial) } == "fetch_failed", "\(partial) passes as whole")
    }

    let model = Task { await code { try await fetch("org/slow", revision: "whole") } }
    let words = Task { await code { _ = try await HubTokenizer(hub: "org/slow", revision: "whole") } }
    for task in [model, words] {
      task.cancel()
      expect(await task.value == "cancelled", "a cancelled download returns its folder")
    }
  }
}
