// What a client measures and prepares: limits of the machine, speculation, quantised models, pipelines, the hub's cache.
import Foundation
import PagodaHub
import PagodaKit

func measurements(_ source: ModelSource) async throws {
  print(try await MachineLimits.measure(), try await MachineLimits.measure(.cpu, threadCount: 1))
  print(EngineOptions.Device.choices, EngineOptions.Device("metal") as Any, EngineOptions.RopeScaling("yarn:4") as Any)
  var bench = SpeculationBench()
  bench.prompts = SpeculationBench.Prompt.all + [SpeculationBench.Prompt(kind: "story", text: "Once")]
  try await bench.run(source, options: EngineOptions()) { print($0) }
  print(try await source.quantize(to: "/models/small", bits: 4).outputBytes)
}

func profile(_ engine: Engine) async throws {
  engine.setKernelProfiling(true)
  for time in await engine.takeProfile() { print(time.name, time.seconds) }
}

/// A stage of a model that runs on several machines.
func stage(_ source: ModelSource) async throws {
  print(try PipelineStage.mpiRank())
  try await PipelineStage.run(source, options: EngineOptions(), address: ":9000") { print($0) }
}

func cache(_ model: ModelName) async throws {
  let settings = HubSettings(cacheFolder: "/models/hub")
  let cache = HubCache(folder: settings.cacheFolder)
  let listing = try await HubAPI(settings).listing(of: model)
  print(try FileSelection().choose(from: listing, of: model).count, try cache.location(of: model))
  for name in cache.ggufModels(of: model) { print(try cache.removeGGUF(name, of: model)) }
  print(try cache.remove(model, onlyRevision: true))
}
