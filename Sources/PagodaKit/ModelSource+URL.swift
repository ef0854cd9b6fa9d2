// Model folders as URLs.
import Foundation

extension ModelSource {
  /// A folder with `config.json`, safetensors files and, for text, `tokenizer.json`.
  public static func directory(_ url: URL) -> ModelSource { .folder(path: url.path) }
}
