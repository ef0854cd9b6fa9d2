// Ollama's pull, copy and delete, for holders of an admin key.
import Foundation
import PagodaKit

extension ModelHost {
  static let libraryRoutes: [String: [String: Service.Work]] = [
    "/api/pull": ["POST": .host(.ollama) { try $0.ollamaPull($1) }],
    "/api/copy": ["POST": .host(.ollama) { try $0.ollamaCopy($1) }],
    "/api/delete": ["DELETE": .host(.ollama) { try $0.ollamaDelete($1) }],
  ]

  private func checkAdmin(_ request: HTTPRequest, _ action: String) throws -> any ModelLibrary {
    guard guarding.isAdmin(request) else {
      throw APIError(
        status: 403, message: "\(action) needs an admin key: a key with `admin` in the server's --api-key-file",
        type: "permission_error", code: "admin_key_required")
    }
    guard let library = options.library else {
      throw APIError.invalid("\(action) is not supported by this server", code: "unsupported_endpoint", status: 404)
    }
    return library
  }

  /// Succeeds for models that are served; others are downloaded, and served by the next server that names them.
  private func ollamaPull(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .ollamaPull)
    let name = try fields.modelName()
    let isStream = try fields.flag("stream") ?? true
    let success = JSONValue.object(["status": .string("success")])
    do {
      _ = try ollamaEntry(fields)
      return exchange.reply(.whole(.json(success)))
    } catch var error as APIError where error.status == 404 && !guarding.isAdmin(exchange.request) {
      error.message += "; downloading it needs an admin key, or run `pagoda pull` and start a server with --model"
      throw error
    } catch let error as APIError where error.status == 404 {}
    let library = try checkAdmin(exchange.request, "downloading '\(name.prefix(100))'")
    let body = StreamBody(PullEncoder(), maximumPending: options.pendingEvents) { [weak exchange] in
      exchange?.stopWork()
    }
    let task = Task {
      do {
        try await library.pull(name) { done, total in
          let line = JSONValue.object([
            "status": .string("pulling \(name)"), "digest": .string(name), "total": .integer(total),
            "completed": .integer(done),
          ])
          if isStream { body.push(.text(line.text + "\n")) }
        }
        if isStream { body.push(.text(success.text + "\n")) } else { exchange.reply(.whole(.json(success))) }
      } catch {
        let refusal = Self.refusal(error)
        if isStream { body.push(.cut(refusal)) } else { exchange.reply(.whole(refusal.response(.ollama))) }
      }
    }
    exchange.onGone { task.cancel() }
    guard isStream else { return }
    body.push(.text(JSONValue.object(["status": .string("pulling manifest")]).text + "\n"))
    exchange.reply(.stream([HTTPHeader("Content-Type", "application/x-ndjson")], body))
  }

  private static func refusal(_ error: any Error) -> APIError {
    guard let error = error as? LibraryError else { return APIError(any: error) }
    return .invalid(error.message, status: error.isMissing ? 404 : 500)
  }

  /// Another name for a model, until the server ends.
  private func ollamaCopy(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .ollamaCopy)
    guard let source = try fields.string("source", maximumBytes: 512) else { throw fields.missing("source") }
    guard let name = try fields.string("destination", maximumBytes: 256), !name.isEmpty else {
      throw fields.missing("destination")
    }
    _ = try checkAdmin(exchange.request, "copying a model")
    guard let entry = entry(named: source) else { throw ServedModels.unknown(source, listed) }
    if self.entry(named: name) != nil, added.model(of: name) == nil {
      throw APIError.invalid("'\(name.prefix(100))' is a model already", param: "destination", status: 409)
    }
    guard added.add(name, for: entry.names.names[0]) else {
      throw APIError.invalid("there are \(AddedNames.maximum) copies, the most that are kept; delete some")
    }
    exchange.reply(.whole(.json(.object([]))))
  }

  /// Deletes a copy's name, or the files of a model that is not served.
  private func ollamaDelete(_ exchange: Exchange) throws {
    let fields = try FieldReader(body: exchange.request.body, table: .ollamaShow)
    let name = try fields.modelName()
    let library = try checkAdmin(exchange.request, "deleting '\(name.prefix(100))'")
    if added.remove(name) { return exchange.reply(.whole(.json(.object([])))) }
    if entry(named: name) != nil {
      throw APIError.invalid("'\(name.prefix(100))' is being served, so it cannot be deleted", status: 409)
    }
    do { try library.delete(name) } catch { throw Self.refusal(error) }
    exchange.reply(.whole(.json(.object([]))))
  }
}

extension FieldReader {
  fileprivate func modelName() throws -> String {
    guard let name = try string("model", maximumBytes: 512) ?? string("name", maximumBytes: 512), !name.isEmpty else {
      throw missing("model")
    }
    return name
  }
}

/// Lines of JSON; the last one reports success or an error.
private struct PullEncoder: StreamEncoder {
  mutating func opening() -> String { "" }

  mutating func encode(_ item: StreamItem) -> (text: String, isLast: Bool) {
    switch item {
    case .text(let text): (text, text.contains("\"success\""))
    case .cut(let error): (error.ollamaBody.text + "\n", true)
    case .keepAlive, .event: ("", false)
    }
  }
}
