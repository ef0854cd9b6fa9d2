// Answers as values: complete values, and partial values while streaming.
public import PagodaFoundation

/// An answer as a value of a type.
///
/// ```swift
/// let city = try await session.respond(to: "Tell me about Paris.", generating: City.self)
/// print(city.value.name, city.response.usage.completionTokens)
/// ```
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
///
/// ```swift
/// for try await part in session.streamResponse(to: "Describe Lima.", generating: City.self) {
///   print(part.value.name, part.isComplete)
/// }
/// ```
public struct PartialValue<Value: Sendable>: Sendable {
  /// The value so far.
  public var value: Value
  /// The JSON text so far, closed so that it can be parsed.
  public var json: String
  /// Whether this is the complete value; true only for the last element of a stream.
  public var isComplete: Bool

  /// A partial value.
  public init(value: Value, json: String, isComplete: Bool) {
    self.value = value
    self.json = json
    self.isComplete = isComplete
  }
}

extension ChatSession {
  /// Answers with a value of your own type. The schema is enforced token by token, after thinking. An answer that a
  /// token limit ended too early throws ``PagodaError/incompleteOutput(_:)``.
  /// - Parameters:
  ///   - input: the input to answer.
  ///   - type: the type of the answer.
  ///   - schema: the schema of `type`; nil derives it (``JSONSchema/derived(from:decoder:)``).
  ///   - decoder: the decoder that reads the answer; nil reads dates in ISO 8601.
  ///   - options: options for this answer only.
  public func respond<Value: Decodable & Sendable>(
    to input: some ChatInput, generating type: Value.Type, schema: JSONSchema? = nil, decoder: JSONDecoder? = nil,
    options: ResponseOptions = ResponseOptions()
  ) async throws -> StructuredResponse<Value> {
    let schema = try schema ?? .derived(from: type, decoder: decoder)
    var collector = ResponseCollector()
    for try await event in stream(input, options, grammar: .matching(schema), { $0 }) { collector.take(event) }
    let response = try collector.response()
    let value = try ValueForms(decoder).value(type, response.text, response.completion.finishReason)
    return StructuredResponse(value: value, response: response)
  }

  /// Streams a value of your own type: each element contains the parts received so far, the last one everything.
  public func streamResponse<Value: Decodable & Sendable>(
    to input: some ChatInput, generating type: Value.Type, schema: JSONSchema? = nil, decoder: JSONDecoder? = nil,
    options: ResponseOptions = ResponseOptions()
  ) -> AnswerStream<PartialValue<Value>> {
    AnswerStream { continuation in
      do {
        let schema = try schema ?? .derived(from: type, decoder: decoder)
        let events = stream(input, options, grammar: .matching(schema)) { $0 }
        let task = Task {
          do {
            try await Self.read(events, type, ValueForms(decoder)) { continuation.yield($0) }
            continuation.finish()
          } catch {
            continuation.finish(throwing: error)
          }
        }
        continuation.onCancel { task.cancel() }
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  private static func read<Value: Decodable & Sendable>(
    _ events: AnswerStream<Event>, _ type: Value.Type, _ forms: ValueForms,
    deliver: @Sendable (PartialValue<Value>) -> Void
  ) async throws {
    var json = PartialJSON()
    var last: String?
    for try await event in events {
      if case .finished(let completion) = event {
        let value = try forms.value(type, json.text, completion.finishReason)
        deliver(PartialValue(value: value, json: json.text, isComplete: true))
      }
      guard case .text(let chunk) = event else { continue }
      json.push(chunk)
      guard let closed = json.closed, closed != last, let source = JSONValue.parse(closed) else { continue }
      last = closed
      let value = try FillingDecoder.read(type, from: source, inside: nil, forms).value
      deliver(PartialValue(value: value, json: closed, isComplete: false))
    }
  }
}

extension ValueForms {
  /// The value of a whole answer.
  fileprivate func value<Value: Decodable>(_ type: Value.Type, _ text: String, _ reason: FinishReason) throws -> Value {
    do {
      return try decode(type, text)
    } catch {
      guard reason == .length else {
        throw PagodaError.invalidArgument("the answer is not a \(type): \(error): \(text.prefix(200))")
      }
      var json = PartialJSON()
      json.push(text)
      throw PagodaError.incompleteOutput(
        IncompleteOutput(
          json: json.closed ?? "null",
          message: "a token limit ended the answer before its \(type) was complete: \(text.prefix(200))"))
    }
  }
}

extension Request.Grammar {
  /// JSON that matches a schema.
  public static func matching(_ schema: JSONSchema) -> Self { .jsonSchema(schema.json) }

  /// A regular expression that the whole answer must match.
  public static func regex(_ pattern: String) -> Self { .regularExpression(pattern) }
}
