// The version of the library and of the programs made from it.

/// The version of Pagoda.
public enum PagodaVersion {
  /// The version number, such as `1.2.3`.
  public static let current = "0.1.0"
}
