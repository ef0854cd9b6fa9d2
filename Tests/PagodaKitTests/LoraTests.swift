// LoRA adapters through PagodaKit: chosen by name, loaded and unloaded, and refused if they do not fit.
import Foundation
import PagodaKit
import Testing

private let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
  path: "Fixtures")

private func fixture(_ path: String) -> String { fixtures.appending(path: path).path }

@Suite struct LoraTests {
  private func engine(bytes: Int64? = nil) async throws -> Engine {
    var options = EngineOptions(device: .cpu)
    options.loras = [LoraAdapter(name: "all", folder: fixture("lora/qwen3_5_all"))]
    options.loraBytes = bytes
    return try await Engine.load(.folder(path: fixture("model/qwen3_5")), options: options)
  }

  private func tokens(_ engine: Engine, _ lora: String?) async throws -> [Int32] {
    var sampling = SamplingParameters(maximumTokens: 8)
    sampling.temperature = 0
    sampling.topLogProbabilities = 0
    sampling.ignoresEndOfText = true
    var request = Request(prompt: .tokens(Array(1...40)), sampling: sampling)
    request.lora = lora
    return try await engine.respond(to: request).tokens.map(\.id)
  }

  @Test func requestsChooseAnAdapter() async throws {
    let engine = try await engine()
    #expect(engine.loras.map(\.name) == ["all"])
    // And the table that finds its matrices
    #expect(try engine.info.plan.adapterBytes > #require(engine.loras[0].byteCount))
    #expect(try await tokens(engine, "all") != tokens(engine, nil))
    await #expect(throws: PagodaError.self) { try await tokens(engine, "other") }
    await engine.shutDown()
  }

  @Test func adaptersLoadAndUnload() async throws {
    let engine = try await engine(bytes: 1 << 20)
    let adapted = try await tokens(engine, "all")
    try await engine.loadLora(LoraAdapter(name: "mlx", folder: fixture("lora/qwen3_5_mlx")))
    #expect(try await tokens(engine, "mlx") == adapted)
    try engine.unloadLora(named: "all")
    await #expect(throws: PagodaError.self) { try await tokens(engine, "all") }
    #expect(throws: PagodaError.self) { try engine.unloadLora(named: "all") }
    await engine.shutDown()
  }
}
