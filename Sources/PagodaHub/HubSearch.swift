// Searches a hub for models by words in their names.
import Foundation

/// A model that a search found.
public struct HubHit: Hashable, Sendable, Identifiable {
  /// `ORG/NAME`.
  public let id: String
  /// Downloads of the last month.
  public let downloads: Int
  /// Whether it has files that can be loaded: safetensors or GGUF.
  public let hasWeights: Bool
  /// Whether access must be requested on the hub.
  public let isGated: Bool
  /// The format of its weights, such as `safetensors BF16` or `GGUF`; nil if the hub does not say.
  public let format: String?
  /// The size of its safetensors in bytes; nil if the hub does not say.
  public let weightBytes: Int64?

  /// Creates one from its values, for tests.
  public init(
    id: String, downloads: Int, hasWeights: Bool, isGated: Bool, format: String? = nil, weightBytes: Int64? = nil
  ) {
    self.id = id
    self.downloads = downloads
    self.hasWeights = hasWeights
    self.isGated = isGated
    self.format = format
    self.weightBytes = weightBytes
  }
}

extension HubAPI {
  /// Models whose names contain the words, those with the most downloads first. Invalid names are skipped.
  public func search(_ words: String, limit: Int = 20) async throws -> [HubHit] {
    let fields = ["downloads", "gated", "safetensors", "tags"].map { "&expand%5B%5D=\($0)" }.joined()
    let query = "search=\(encoded(words, alsoSlash: true))&limit=\(limit)&sort=downloads\(fields)"
    let address = "\(settings.endpoint)/api/models?\(query)"
    let (data, _) = try await get(address, "the search for '\(words)'") { head in
      guard !(200...299).contains(head.status) else { return }
      if head.status == 408 || head.status == 429 || head.status >= 500 {
        throw BusyAnswer(status: head.status, waitSeconds: head.headers["retry-after"].flatMap(Double.init))
      }
      throw HubError.network("the search for '\(words)': the hub answers \(head.status)")
    }
    return Array(try Self.hits(in: data, endpoint: settings.endpoint).prefix(limit))
  }

  static func hits(in data: Data, endpoint: String) throws -> [HubHit] {
    guard let rows = try? JSONDecoder().decode([SearchRow].self, from: data) else {
      throw HubError.damaged("\(endpoint) does not answer as a hub does")
    }
    return rows.compactMap { row in
      guard let name = row.id ?? row.modelId, ModelName(name)?.repository == name else { return nil }
      let tags = row.tags ?? []
      return HubHit(
        id: name, downloads: row.downloads ?? 0, hasWeights: tags.contains("safetensors") || tags.contains("gguf"),
        isGated: row.gated?.isGated ?? false, format: row.format, weightBytes: row.weightBytes)
    }
  }
}

private struct SearchRow: Decodable {
  /// `gated` is false, or says how access is granted.
  struct Gate: Decodable {
    var isGated: Bool
    init(from decoder: any Decoder) throws {
      isGated = (try? decoder.singleValueContainer().decode(Bool.self)) ?? true
    }
  }

  var id: String?
  var modelId: String?
  var downloads: Int?
  var tags: [String]?
  var gated: Gate?
  var safetensors: Tensors?

  /// Numbers of weights by data type.
  struct Tensors: Decodable {
    var parameters: [String: Int64]?
  }

  /// The type of most weights. MLX packs several weights of 4 or 8 bits into a U32.
  var format: String? {
    if let most = safetensors?.parameters?.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) {
      return most.key == "U32" ? "MLX, quantised" : "safetensors \(most.key)"
    }
    return tags?.contains("gguf") == true ? "GGUF" : nil
  }

  var weightBytes: Int64? {
    guard let counts = safetensors?.parameters, !counts.isEmpty else { return nil }
    let sizes: [String: Int64] = ["F64": 8, "I64": 8, "F32": 4, "U32": 4, "I32": 4, "F16": 2, "BF16": 2]
    return counts.reduce(0) { $0 + $1.value.multipliedReportingOverflow(by: sizes[$1.key] ?? 1).partialValue }
  }
}
