// The parts of Foundation in the public API: model folders as URLs, errors as LocalizedError.
public import PagodaFoundation

extension ModelSource {
  /// A folder with `config.json`, safetensors files and, for text, `tokenizer.json`.
  public static func directory(_ url: URL) -> ModelSource { .folder(path: url.path) }
}

extension PagodaError: LocalizedError {
  /// The message, as `localizedDescription` shows it.
  public var errorDescription: String? { message }
}

extension ModelSource {
  /// A folder with `config.json`, safetensors files and, for text, `tokenizer.json`; or a GGUF file.
  public static func folder(_ url: URL) -> ModelSource { .folder(path: url.path) }
}

extension EngineOptions {
  /// ``weightCacheFolder`` as a URL.
  public var weightCacheURL: URL? {
    get { weightCacheFolder.map { URL(filePath: $0) } }
    set { weightCacheFolder = newValue?.path }
  }

  /// ``prefixCacheFolder`` as a URL.
  public var prefixCacheURL: URL? {
    get { prefixCacheFolder.map { URL(filePath: $0) } }
    set { prefixCacheFolder = newValue?.path }
  }
}
