// A stub of UniformTypeIdentifiers for Linux, for type checking only.

public struct UTType: Hashable, Sendable {
  public static let (text, data, folder) = (UTType(), UTType(), UTType())
}
