// A tour of the API: events, a conversation, an error. Its switches have a default for cases of later versions.
import Foundation
import PagodaKit
import PagodaMini

@main
enum Tour {
  static func main() async throws {
    let engine = try await Engine.load(.mini)
    for try await event in engine.submit(Request("What is the capital of France?")) {
      switch event {
      case .text(let text): print(text, terminator: "")
      case .reasoning(let text): print("(\(text))", terminator: "")
      case .toolCall, .rejectedToolCall, .toolFailed, .token, .promptProgress, .contextTrimmed: break
      case .finished(let completion): print("\n\(describe(completion.finishReason))")
      @unknown default: break
      }
    }
    print(try await ChatSession(engine).respond(to: "What is 12 plus 30?"))
    do {
      _ = try await Engine.load(.directory(URL(filePath: "/no/such/model")))
    } catch let error as PagodaError {
      print(error.localizedDescription)
    }
  }

  static func describe(_ reason: FinishReason) -> String {
    switch reason {
    case .stop: "complete"
    case .length: "cut off"
    case .cancelled: "cancelled"
    @unknown default: "ended"
    }
  }
}
