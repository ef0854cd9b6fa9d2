// Experts that are read from the files: the same answers, the plan, and refusals that name the property.
import Foundation
import PagodaKit
import Testing

private let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
  path: "Fixtures")

private func folder(_ path: String) -> ModelSource { .folder(path: fixtures.appending(path: path).path) }

@Suite struct ExpertMemoryTests {
  private let model = folder("model/qwen3_5_moe")

  private func options(_ bytes: Int64?) -> EngineOptions {
    var options = EngineOptions(device: .cpu)
    options.expertMemoryBytes = bytes
    return options
  }

  private func tokens(_ bytes: Int64?) async throws -> [Int32] {
    let engine = try await Engine.load(model, options: options(bytes))
    var sampling = SamplingParameters(maximumTokens: 8)
    sampling.temperature = 0
    sampling.ignoresEndOfText = true
    let answer = try await engine.respond(to: Request(prompt: .tokens(Array(1...40)), sampling: sampling))
    await engine.shutDown()
    return answer.tokens.map(\.id)
  }

  @Test func answersAreTheSameWithAnyMemory() async throws {
    let all = try await Engine.inspect(model, options: options(nil)).plan
    #expect(all.expertMemoryBytes == 0 && all.expertReadBytesPerToken == 0)
    #expect(all.expertTokenBytes * 8 == all.expertBytes * 3)
    let half = try await Engine.inspect(model, options: options(all.expertBytes / 2)).plan
    #expect(half.expertMemoryBytes == all.expertBytes / 2)
    #expect(half.expertReadBytesPerToken == half.expertTokenBytes / 2)
    #expect(half.weightsBytes == all.weightsBytes - all.expertBytes / 2)
    let wanted = try await tokens(nil)
    for bytes in [all.expertBytes / 4, all.expertBytes / 2, all.expertBytes] {
      #expect(try await tokens(bytes) == wanted)
    }
  }

  @Test func refusalsNameTheProperty() async throws {
    for (bytes, source) in [(Int64(10), model), (1 << 20, folder("model/qwen3_5")), (0, model)] {
      do {
        _ = try await Engine.inspect(source, options: options(bytes))
        Issue.record("\(bytes) bytes were accepted")
      } catch let error as PagodaError {
        #expect(error.message.contains("expertMemoryBytes"))
      }
    }
  }
}
