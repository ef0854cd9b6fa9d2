// Answers as values: complete values, and partial values while streaming.
internal import Foundation

/// An answer as a value of a type.
public struct StructuredResponse<Value: Sendable>: Sendable {
  /// The value.
  public var value: Value
  /// The answer it was read from, with reasoning and usage.
  public var response: Response

  /// A value and the answer it was read from.
  public init(value: Value, response: Response) {
    self.value = value
    self.response = response
  }
}

/// A partial value of a streamed answer. Missing parts are empty: strings and lists without content, zero, false, nil,
/// or the first case.
public struct PartialValue<Value: Sendable>: Sendable {
  /// The value so far.
  public var value: Value
  /// The JSON text so far, closed so that it can be parsed.
  public var json: String
  /// Whether this is the complete value; true only for the last element of a stream.
  public var isComplete: Bool
}

extension ChatSession {
  /// Answers with a value of your own type. The schema is enforced token by token, after thinking.
  /// - Parameters:
  ///   - input: the input to answer.
  ///   - type: the type of the answer.
  ///   - schema: the schema of `type`; nil derives it (``JSONSchema/derived(from:)``).
  ///   - options: options for this answer only.
  public func respond<Value: Decodable & Sendable>(
    to input: some ChatInput, generating type: Value.Type, schema: JSONSchema? = nil,
    options: ResponseOptions = ResponseOptions()
  ) async throws -> StructuredResponse<Value> {
    let schema = try schema ?? .derived(from: type)
    var collector = ResponseCollector()
    for try await event in stream(input, options, grammar: .matching(schema), { $0 }) { collector.take(event) }
    let response = try collector.response()
    return StructuredResponse(value: try Self.decode(type, response.text), response: response)
  }

  /// Streams a value of your own type: each element contains the parts received so far, the last one everything.
  public func streamResponse<Value: Decodable & Sendable>(
    to input: some ChatInput, generating type: Value.Type, schema: JSONSchema? = nil,
    options: ResponseOptions = ResponseOptions()
  ) throws -> AsyncThrowingStream<PartialValue<Value>, any Error> {
    let schema = try schema ?? .derived(from: type)
    let chunks = stream(input, options, grammar: .matching(schema)) { event -> String? in
      if case .text(let chunk) = event { chunk } else { nil }
    }
    return AsyncThrowingStream { continuation in
      let task = Task {
        do {
          var json = PartialJSON()
          var last: String?
          for try await chunk in chunks {
            json.push(chunk)
            guard let closed = json.closed, closed != last, let source = JSONValue.parse(closed) else { continue }
            last = closed
            let value = try FillingDecoder.read(type, from: source, inside: nil).value
            continuation.yield(PartialValue(value: value, json: closed, isComplete: false))
          }
          if !Task.isCancelled {
            let value = try Self.decode(type, json.text)
            continuation.yield(PartialValue(value: value, json: json.text, isComplete: true))
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
    }
  }

  private static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(text.utf8))
    } catch {
      throw PagodaError.invalidArgument(
        "the answer is not a \(type); a token limit may have cut it: \(text.prefix(200))")
    }
  }
}

extension Request.Grammar {
  /// JSON that matches a schema.
  public static func matching(_ schema: JSONSchema) -> Self { .jsonSchema(schema.json) }
}
