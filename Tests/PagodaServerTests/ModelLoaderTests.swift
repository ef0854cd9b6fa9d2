// Loading without a server: which models are loaded, and how often.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct ModelLoaderTests {
  /// Requests for a model that is being loaded get it when it is there, and it is not loaded once more for them.
  @Test func a_model_that_is_requested_twice_while_it_loads_is_loaded_once() async throws {
    let (lines, answered, isHeld, mayGo) = (Box<[String]>([]), Box<[String]>([]), Box(false), Box(false))
    var options = ServerOptions()
    options.eventLog = { lines.value += [$0] }
    var engine = EngineOptions()
    engine.maximumSequences = 1
    let bytes = try await Engine.inspect(.mini, options: engine).plan.totalBytes
    let models = ["a", "b"].map { ServedModel(name: $0, source: .mini, options: engine) }
    let front = try RequestGate(options, isLoopbackOnly: true)
    let http = HTTPServer(front, limits: try options.limits())
    let host = ModelHost(
      try await ModelHost.entries(of: models, options, memoryBytes: bytes + 1000), behind: front, on: http,
      memoryBytes: bytes + 1000
    ) { _ in
      isHeld.value = true
      while !mayGo.value { try await Task.sleep(for: .milliseconds(5)) }
    }
    func use(_ name: String) throws {
      try host.use(try #require(host.entry(named: name))) { _ in answered.value += [name] }
    }
    try use("a")
    #expect(try await eventually { isHeld.value })
    try use("b")
    try use("a")
    mayGo.value = true
    await host.lock.withLock { host.loader }?.value
    #expect(try await eventually { answered.value.sorted() == ["a", "a", "b"] })
    #expect(lines.value.map { $0.prefix(13) } == ["a is loaded: ", "a is unloaded", "b is loaded: "], "\(lines.value)")
    await host.close()
  }
}
