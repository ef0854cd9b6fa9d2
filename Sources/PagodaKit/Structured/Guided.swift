// Guided: descriptions and limits of single properties, added to the schema derived from a type.

/// A `Decodable` type that guides the model property by property; everything else is derived.
///
/// ```swift
/// struct City: Decodable, Sendable, Guided {
///   var name: String
///   var population: Int
///   var rivers: [String]
///   static var guides: [Guide] {
///     [
///       Guide("name", description: "Its English name.", length: 1...40),
///       Guide("population", in: 0...100_000_000),
///       Guide("rivers", count: 0...3),
///     ]
///   }
/// }
/// ```
public protocol Guided {
  /// Guides for some of the properties. A name that is no property is an error.
  static var guides: [Guide] { get }
}

/// A description or limits of one property, by its name in JSON.
///
/// ```swift
/// struct City: Decodable, Guided {
///   var name: String
///   var population: Int
///   static var guides: [Guide] {
///     [Guide("name", description: "Its English name.", length: 1...40), Guide("population", in: 0...50_000_000)]
///   }
/// }
/// ```
public struct Guide: Hashable, Sendable {
  /// The name of the property.
  public var name: String
  var keywords: [JSONValue.Member] = []

  private init(_ name: String, _ description: String?, _ keywords: KeyValuePairs<String, JSONValue?>) {
    self.name = name
    for (key, value) in keywords { if let value { self.keywords.append(.init(key: key, value: value)) } }
    if let description { self.keywords.append(.init(key: "description", value: .string(description))) }
  }

  /// What the property means, for the model.
  public init(_ name: String, description: String) { self.init(name, description, [:]) }

  /// A whole number in a range.
  public init(_ name: String, description: String? = nil, in range: ClosedRange<Int>) {
    self.init(
      name, description,
      ["minimum": .integer(Int64(range.lowerBound)), "maximum": .integer(Int64(range.upperBound))])
  }

  /// A number in a range.
  public init(_ name: String, description: String? = nil, in range: ClosedRange<Double>) {
    self.init(name, description, ["minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)])
  }

  /// A text with a number of characters in a range.
  public init(_ name: String, description: String? = nil, length: ClosedRange<Int>) {
    self.init(
      name, description,
      ["minLength": .integer(Int64(length.lowerBound)), "maxLength": .integer(Int64(length.upperBound))])
  }

  /// A text that matches a regular expression of ECMA-262.
  public init(_ name: String, description: String? = nil, pattern: String) {
    self.init(name, description, ["pattern": .string(pattern)])
  }

  /// A text of a known format.
  public init(_ name: String, description: String? = nil, format: StringFormat) {
    self.init(name, description, ["format": .string(format.rawValue)])
  }

  /// One of these texts.
  public init(_ name: String, description: String? = nil, choices: [String]) {
    self.init(name, description, ["enum": .array(choices.map { .string($0) })])
  }

  /// A list with a number of elements in a range.
  public init(_ name: String, description: String? = nil, count: ClosedRange<Int>) {
    self.init(
      name, description,
      ["minItems": .integer(Int64(count.lowerBound)), "maxItems": .integer(Int64(count.upperBound))])
  }
}

extension JSONSchema {
  /// The schema of an object with guides for its properties.
  func guided(by guides: [Guide]) throws -> JSONSchema {
    try guides.reduce(self) { schema, guide in
      let property = try schema.property(guide.name)
      return try schema.replacing(guide.name, with: guide.keywords.reduce(property) { $0.with($1.key, $1.value) })
    }
  }
}
