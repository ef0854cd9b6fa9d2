// Asks a model one question and streams its answer: `swift run Ask "What is the capital of France?" [model folder]`.
import PagodaKit
import PagodaMini

@main
enum Ask {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let question = arguments.first ?? "What is the capital of France?"
    let source = arguments.dropFirst().first.map { ModelSource.folder(path: $0) } ?? .mini
    let session = try await ModelContainer(source).session(instructions: "Answer briefly.")
    for try await text in session.streamResponse(to: question) { print(text, terminator: "") }
    if let end = session.lastCompletion { print("\n[\(end.finishReason), \(end.usage.completionTokens) tokens]") }
  }
}
