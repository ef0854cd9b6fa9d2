// HubAPI: lists a repository's files; every field is validated before it becomes a path.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A file of a repository.
public struct HubFile: Hashable, Sendable {
  /// Relative path with slashes.
  public let path: String
  /// Size in bytes.
  public let size: Int64
  let hash: ExpectedHash

  init(path: String, size: Int64, hash: ExpectedHash) {
    self.path = path
    self.size = size
    self.hash = hash
  }

  /// A file, for tests.
  /// - Parameter sha256: the hash of its content, 64 hexadecimal digits.
  public init(path: String, size: Int64, sha256: String) { self.init(path: path, size: size, hash: .sha256(sha256)) }
}

/// A repository at one commit.
public struct HubListing: Hashable, Sendable {
  /// 40 hexadecimal digits.
  public let commit: String
  /// All files, in the hub's order.
  public let files: [HubFile]

  /// A repository, for tests.
  public init(commit: String, files: [HubFile]) {
    self.commit = commit
    self.files = files
  }
}

/// Queries a hub about repositories.
///
/// ```swift
/// for hit in try await HubAPI(HubSettings()).search("qwen3.5") { print(hit.id, hit.downloads) }
/// ```
public struct HubAPI: Sendable {
  let settings: HubSettings
  private let connection: HTTPConnection

  /// Queries the hub given in the settings.
  public init(_ settings: HubSettings) {
    self.settings = settings
    connection = HTTPConnection(settings: settings)
  }

  /// The commit that the name currently refers to, and its files.
  public func listing(of model: ModelName) async throws -> HubListing {
    struct Revision: Decodable { var sha: String }
    let base = "/api/models/\(model.repository)"
    let revision = encoded(model.revision, alsoSlash: true)
    let (data, _) = try await get("\(settings.endpoint)\(base)/revision/\(revision)", of: model)
    let commit = try decode(Revision.self, data, of: model).sha
    guard isHexadecimal(commit, digits: 40) else {
      throw HubError.damaged("\(model): the hub gives '\(commit.prefix(80))' as the commit")
    }
    var files: [HubFile] = []
    var next: String? = "\(settings.endpoint)\(base)/tree/\(commit)?recursive=true&expand=false"
    for _ in 0..<Self.maximumPages {
      guard let address = next else { break }
      let (page, head) = try await get(address, of: model)
      files += try decode([TreeEntry].self, page, of: model).compactMap { try $0.file(of: model) }
      next = try nextPage(head, of: model)
    }
    guard next == nil, files.count <= Self.maximumFiles else {
      throw HubError.damaged("\(model): the hub lists more than \(Self.maximumFiles) files")
    }
    return HubListing(commit: commit, files: files)
  }

  private static let maximumPages = 200
  private static let maximumFiles = 100_000
  private static let maximumAnswerBytes = 64 << 20

  /// `Link: <address>; rel="next"`; must point to the hub itself, because the token is sent there.
  private func nextPage(_ head: HTTPHead, of model: ModelName) throws -> String? {
    guard let link = head.headers["link"], link.contains("rel=\"next\""),
      let begin = link.firstIndex(of: "<"), let end = link.firstIndex(of: ">"), begin < end
    else { return nil }
    let address = String(link[link.index(after: begin)..<end])
    let full = address.hasPrefix("/") ? settings.endpoint + address : address
    guard full.hasPrefix(settings.endpoint + "/") else {
      throw HubError.damaged("\(model): the list of files continues at another server")
    }
    return full
  }

  private func get(_ address: String, of model: ModelName) async throws -> (Data, HTTPHead) {
    try await get(address, "\(model)") { try $0.check(model, settings: settings) }
  }

  /// `what` names the subject in errors; `check` throws for an invalid answer.
  func get(
    _ address: String, _ what: String, check: @escaping @Sendable (HTTPHead) throws -> Void
  ) async throws -> (Data, HTTPHead) {
    var retry = Retry(settings)
    while true {
      let answer = SmallAnswer(maximumBytes: Self.maximumAnswerBytes)
      do {
        try await connection.send(
          hubRequest(address, settings),
          onHead: { head in
            try check(head)
            answer.head = head
          },
          onData: { try answer.add($0, of: what) })
        return (answer.data, answer.head)
      } catch {
        try await retry.wait(after: error, what)
      }
    }
  }

  private func decode<Value: Decodable>(_ type: Value.Type, _ data: Data, of model: ModelName) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch {
      throw HubError.damaged("\(model): \(settings.endpoint) does not answer as a hub does")
    }
  }
}

/// A row of the file listing.
private struct TreeEntry: Decodable {
  struct LargeFile: Decodable {
    var oid: String
    var size: Int64
  }

  var type: String
  var path: String
  var oid: String?
  var size: Int64?
  var lfs: LargeFile?

  func file(of model: ModelName) throws -> HubFile? {
    guard type == "file" else { return nil }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
    let hasOddCharacter = path.unicodeScalars.contains { $0.value < 32 || $0.value == 127 || $0 == "\\" }
    let size = lfs?.size ?? size ?? -1
    guard isPlain, !hasOddCharacter, path.utf8.count <= 1024, (0...(1 << 50)).contains(size) else {
      throw HubError.damaged("\(model): the hub lists a file with a bad name or size: '\(path.prefix(80))'")
    }
    if let lfs, isHexadecimal(lfs.oid, digits: 64) {
      return HubFile(path: path, size: size, hash: .sha256(lfs.oid))
    }
    guard lfs == nil, let oid, isHexadecimal(oid, digits: 40) else {
      throw HubError.damaged("\(model): the hub gives no hash for '\(path)'")
    }
    return HubFile(path: path, size: size, hash: .gitBlob(oid))
  }
}

/// A response body kept in memory. The connection writes it on its queue before the sender reads it.
private final class SmallAnswer: @unchecked Sendable {
  var head = HTTPHead(status: 0, headers: [:])
  private(set) var data = Data()
  private let maximumBytes: Int

  init(maximumBytes: Int) { self.maximumBytes = maximumBytes }

  func add(_ chunk: Data, of what: String) throws {
    data.append(chunk)
    if data.count > maximumBytes { throw HubError.damaged("\(what): the hub's answer is too long") }
  }
}

func encoded(_ text: String, alsoSlash: Bool = false) -> String {
  let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
  return text.addingPercentEncoding(withAllowedCharacters: alsoSlash ? plain : plain.union(["/"])) ?? text
}

/// A request to the hub, with the token. Compression is disabled: it would change the meaning of lengths and ranges.
func hubRequest(_ address: String, _ settings: HubSettings, from offset: Int64 = 0) throws -> URLRequest {
  guard let url = URL(string: address), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
    throw HubError.invalidName("'\(address)' is not an address; HF_ENDPOINT must be like https://huggingface.co")
  }
  var request = URLRequest(url: url)
  request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
  request.setValue(settings.userAgent, forHTTPHeaderField: "User-Agent")
  if let token = settings.token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
  if offset > 0 { request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range") }
  return request
}
