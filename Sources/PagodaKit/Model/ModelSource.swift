// ModelSource: where a model comes from.

/// Where a model comes from.
@frozen
public enum ModelSource: Hashable, Sendable {
  /// The small model inside the binary: a demonstration and a test subject, no download needed.
  case mini
  /// A folder with `config.json`, safetensors files and, for text, `tokenizer.json`.
  case folder(path: String)
  /// The shape of a well-known model, such as `qwen3.5-0.8b`, with pseudo-random weights and no tokenizer: for measuring
  /// speed and memory without a download.
  case shape(String)
}
