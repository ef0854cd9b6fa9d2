// The parts of Foundation in the public API: model folders as URLs, errors as LocalizedError. In one file, because on Linux each file
// that does this is worth a warning: Foundation is built there without the library evolution that this target needs.
public import Foundation

extension ModelSource {
  /// A folder with `config.json`, safetensors files and, for text, `tokenizer.json`.
  public static func directory(_ url: URL) -> ModelSource { .folder(path: url.path) }
}

extension PagodaError: LocalizedError {
  /// The message, as `localizedDescription` shows it.
  public var errorDescription: String? { message }
}
