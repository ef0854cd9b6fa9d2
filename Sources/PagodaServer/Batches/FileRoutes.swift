// The routes of /v1/files: OpenAI's files, as far as batches need them.
import Foundation
import PagodaKit

extension ModelHost {
  static let fileRoutes: [String: [String: Service.Work]] = [
    "/v1/files": [
      "GET": .server { .json(try $0.fileList($1)) },
      "POST": .upload { try $0.upload($1, $2) },
    ]
  ]

  /// `/v1/files/ID` and its content.
  func fileRoute(_ path: String) -> [String: Service.Work]? {
    guard let (id, rest) = Self.parts(of: path, after: "/v1/files/") else { return nil }
    switch rest {
    case []:
      return [
        "GET": .server { .json(try $0.file(id, $1).json) },
        "DELETE": .server { .json(try $0.deleteFile(id, $1)) },
      ]
    case ["content"]:
      return [
        "GET": .server { HTTPResponse(type: "application/octet-stream", body: try $0.file(id, $1).bytes) }
      ]
    default: return nil
    }
  }

  /// The id after a prefix, and the parts of the path after it.
  static func parts(of path: String, after prefix: String) -> (id: String, rest: [String])? {
    guard path.hasPrefix(prefix) else { return nil }
    let parts = path.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard let id = parts.first, !id.isEmpty else { return nil }
    return (id, Array(parts.dropFirst()))
  }

  static func notFound(_ what: String, _ id: String, _ param: String) -> APIError {
    .invalid("\(what) with id '\(id.prefix(100))' not found.", param: param, code: "not_found", status: 404)
  }

  func file(_ id: String, _ request: HTTPRequest) throws -> FileStore.File {
    guard let file = files.find(id, owner: guarding.owner(of: request)) else {
      throw Self.notFound("File", id, "file_id")
    }
    return file
  }

  private func deleteFile(_ id: String, _ request: HTTPRequest) throws -> JSONValue {
    let file = try file(id, request)
    let isRead = batches.list(owner: file.owner) { batch in
      if case .openAI(_, id) = batch.kind { batch.endTime == nil } else { false }
    }.contains(true)
    if isRead { throw APIError.invalid("a batch that has not ended reads the file", param: "file_id", status: 409) }
    files.remove(file.id)
    return .object(["id": .string(id), "object": .string("file"), "deleted": .bool(true)])
  }

  private func fileList(_ request: HTTPRequest) throws -> JSONValue {
    var list = files.list(owner: guarding.owner(of: request))
    if let purpose = request.parameter("purpose") { list.removeAll { $0.purpose != purpose } }
    if try !ListPage.isAscending(request) { list.reverse() }
    return try ListPage(list.map(\.json), request, limit: 10_000, most: 10_000).openAI
  }

  private func upload(_ form: Multipart, _ exchange: Exchange) throws {
    guard let purpose = form.text("purpose") else {
      throw APIError.invalid("purpose is missing", param: "purpose", code: "missing_required_parameter")
    }
    if purpose != "batch" {
      throw APIError.invalid(
        "purpose is '\(purpose.prefix(40))'; files are stored for batches only, with the purpose batch",
        param: "purpose")
    }
    guard let part = form.parts.first(where: { $0.name == "file" }) else {
      throw APIError.invalid("file is missing", param: "file", code: "missing_required_parameter")
    }
    let file = try files.add(
      Array(part.content), name: String((part.filename ?? "file").prefix(255)), purpose: purpose,
      owner: guarding.owner(of: exchange.request), lifetime: try Self.lifetime(form))
    exchange.reply(.whole(.json(file.json)))
  }

  /// Seconds after which the file is deleted; nil keeps it until the server ends.
  private static func lifetime(_ form: Multipart) throws -> Int64? {
    let field = "expires_after[seconds]"
    guard let text = form.text(field) else { return nil }
    guard form.text("expires_after[anchor]") ?? "created_at" == "created_at" else {
      throw APIError.invalid("expires_after[anchor] must be created_at", param: "expires_after[anchor]")
    }
    guard let seconds = Int64(text), (3600...2_592_000).contains(seconds) else {
      throw APIError.invalid("\(field) must be a whole number from 3600 to 2592000", param: field)
    }
    return seconds
  }
}
