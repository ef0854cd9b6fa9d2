// LoRA adapters: those of the options, and loading and unloading while the engine runs.
internal import CxxCore

/// A LoRA adapter in a folder, and the name by which requests choose it.
///
/// The folder is one that peft saved (`adapter_config.json`, `adapter_model.safetensors`) or mlx-lm
/// (`adapter_config.json`, `adapters.safetensors`). Adapters may change the projections of attention, Gated DeltaNet
/// and MLPs; one that changes anything else is refused by name.
///
/// ```swift
/// var options = EngineOptions()
/// options.loras = [LoraAdapter(name: "poet", folder: "Adapters/poet")]
/// let engine = try await Engine.load(.folder(path: "Models/Qwen3.5-4B"), options: options)
/// var request = Request(messages: [.user("Describe the sea.")])
/// request.lora = "poet"
/// ```
public struct LoraAdapter: Hashable, Sendable {
  /// Its name in requests.
  public var name: String
  /// The path of its folder.
  public var folder: String
  /// Its size in the device's memory, in bytes; nil before it is loaded.
  public var byteCount: Int64?

  /// An adapter to load.
  public init(name: String, folder: String) {
    self.name = name
    self.folder = folder
  }

  var core: pagoda.LoraSource { pagoda.LoraSource(name: std.string(name), folder: std.string(folder)) }
}

extension Engine {
  /// The adapters that requests can choose, by name.
  public var loras: [LoraAdapter] {
    core.engine.loras().map { info in
      var adapter = LoraAdapter(name: String(info.name), folder: String(info.folder))
      adapter.byteCount = info.size_bytes
      return adapter
    }
  }

  /// Loads an adapter while the engine runs, within ``EngineOptions/loraBytes``. Answers that are running continue.
  public func loadLora(_ adapter: LoraAdapter) async throws {
    let core = core
    try await offCooperativePool { try core.engine.load_lora(adapter.core).throwIfError() }
  }

  /// The same on the calling thread, which waits for the engine's.
  package func loadLoraNow(_ adapter: LoraAdapter) throws {
    try core.engine.load_lora(adapter.core).throwIfError()
  }

  /// Removes an adapter. Requests that use it end as usual, and its memory is free after them.
  public func unloadLora(named name: String) throws {
    try core.engine.unload_lora(std.string(name)).throwIfError()
  }
}
