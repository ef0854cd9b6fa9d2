// IncompleteOutput: an answer as a value that a token limit ended too early.
public import PagodaFoundation

/// An answer that was to become a value, but ended at a token limit before it was complete.
///
/// ```swift
/// do {
///   print(try await session.respond(to: question, generating: City.self).value)
/// } catch PagodaError.incompleteOutput(let output) {
///   print("so far:", try output.value(as: City.self))
/// }
/// ```
public struct IncompleteOutput: Hashable, Sendable {
  /// The JSON generated so far, closed so that it can be parsed; `null` if there is none.
  public var json: String
  /// The error in one sentence.
  public var message: String

  /// An answer that ended too early.
  public init(json: String, message: String) {
    self.json = json
    self.message = message
  }

  /// The value as far as it was generated. Missing parts are empty, as in a ``PartialValue``.
  public func value<Value: Decodable>(as type: Value.Type, decoder: JSONDecoder? = nil) throws -> Value {
    try FillingDecoder.read(type, from: JSONValue.parse(json), inside: nil, ValueForms(decoder)).value
  }
}
