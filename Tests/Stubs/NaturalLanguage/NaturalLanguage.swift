// A stub of NaturalLanguage for Linux, for type checking only.

public struct NLLanguage: RawRepresentable, Hashable, Sendable {
  public var rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
}

public final class NLLanguageRecognizer {
  public static func dominantLanguage(for string: String) -> NLLanguage? { nil }
}
