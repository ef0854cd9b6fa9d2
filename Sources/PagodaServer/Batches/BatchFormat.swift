// Batches and the lines of their results, in the shapes of OpenAI and Anthropic.
import Foundation
import PagodaKit

extension Batch {
  /// A line with an answer, or with the error that the endpoint responded with.
  func line(_ id: String, _ response: HTTPResponse, requestID: String) -> String {
    let body = String(decoding: response.body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    let name = JSONValue.string(id).text
    if kind == .anthropic {
      let isError = response.status != 200
      let result = isError ? "{\"type\":\"errored\",\"error\":\(body)}" : "{\"type\":\"succeeded\",\"message\":\(body)}"
      return "{\"custom_id\":\(name),\"result\":\(result)}\n"
    }
    let answer =
      "{\"status_code\":\(response.status),\"request_id\":\(JSONValue.string(requestID).text),\"body\":\(body)}"
    return "{\"id\":\"\(randomID("batch_req_"))\",\"custom_id\":\(name),\"response\":\(answer),\"error\":null}\n"
  }

  /// A line that was never sent to an endpoint.
  func line(_ id: String?, code: String, _ message: String) -> String {
    let name = id.map { JSONValue.string($0) } ?? .null
    if kind == .anthropic {
      let error = JSONValue.object([
        "type": .string("error"), "error": APIError.invalid(message, code: code).anthropicBody,
      ])
      let result: JSONValue =
        switch code {
        case "batch_cancelled": .object(["type": .string("canceled")])
        case "batch_expired": .object(["type": .string("expired")])
        default: .object(["type": .string("errored"), "error": error])
        }
      return JSONValue.object(["custom_id": name, "result": result]).text + "\n"
    }
    return JSONValue.object([
      "id": .string(randomID("batch_req_")), "custom_id": name, "response": .null,
      "error": .object(["code": .string(code), "message": .string(message)]),
    ]).text + "\n"
  }

  /// Requires the runner's lock.
  var json: JSONValue { kind == .anthropic ? anthropic : openAI }

  private var openAI: JSONValue {
    guard case .openAI(let endpoint, let inputFile) = kind else { return .null }
    let status = endTime == nil ? (ending == .cancelled ? "cancelling" : "in_progress") : ending?.rawValue ?? "failed"
    func time(_ wanted: Ending) -> JSONValue { ending == wanted ? endTime.map { .integer($0) } ?? .null : .null }
    let errors = failure.map { message -> JSONValue in
      let error = JSONValue.object([
        "code": .string("storage_full"), "message": .string(message), "line": .null, "param": .null,
      ])
      return .object(["object": .string("list"), "data": .array([error])])
    }
    func file(_ id: String?) -> JSONValue { endTime == nil ? .null : id.map { .string($0) } ?? .null }
    return .object([
      "id": .string(id), "object": .string("batch"), "endpoint": .string(endpoint), "errors": errors ?? .null,
      "input_file_id": .string(inputFile), "completion_window": .string("24h"), "status": .string(status),
      "output_file_id": file(outputFile), "error_file_id": file(errorFile), "created_at": .integer(created),
      "in_progress_at": .integer(created), "expires_at": .integer(expires),
      "finalizing_at": ending == .completed ? time(.completed) : .null, "completed_at": time(.completed),
      "failed_at": time(.failed), "expired_at": time(.expired),
      "cancelling_at": ending == .cancelled ? stopTime.map { .integer($0) } ?? .null : .null,
      "cancelled_at": time(.cancelled),
      "request_counts": .object([
        "total": .integer(Int64(lineCount)), "completed": .integer(Int64(counts.succeeded)),
        "failed": .integer(Int64(counts.all - counts.succeeded)),
      ]), "metadata": metadata,
    ])
  }

  private var anthropic: JSONValue {
    func date(_ seconds: Int64?) -> JSONValue {
      seconds.map { .string(Date(timeIntervalSince1970: Double($0)).ISO8601Format()) } ?? .null
    }
    let status = endTime != nil ? "ended" : ending == nil ? "in_progress" : "canceling"
    return .object([
      "id": .string(id), "type": .string("message_batch"), "processing_status": .string(status),
      "request_counts": .object([
        "processing": .integer(Int64(endTime == nil ? lineCount - counts.all : 0)),
        "succeeded": .integer(Int64(counts.succeeded)), "errored": .integer(Int64(counts.errored)),
        "canceled": .integer(Int64(counts.cancelled)), "expired": .integer(Int64(counts.expired)),
      ]), "created_at": date(created), "expires_at": date(expires), "ended_at": date(endTime), "archived_at": .null,
      "cancel_initiated_at": ending == .cancelled ? date(stopTime) : .null,
      // Relative to the base address: behind a proxy the server does not know its own.
      "results_url": endTime == nil ? .null : .string("/v1/messages/batches/\(id)/results"),
    ])
  }
}
