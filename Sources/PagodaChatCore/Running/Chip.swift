// Chip: how fast this machine reads weights, which decides how large a model is pleasant to use.
import Foundation

/// The processor of a machine.
public struct Chip: Hashable, Sendable {
  /// Its name, such as `Apple M4 Pro`.
  public var name: String

  /// A processor by its name.
  public init(name: String) { self.name = name }

  /// This machine's.
  public static var current: Chip {
    #if canImport(Darwin)
    var size = 0
    sysctlbyname("machdep.cpu.brand_string", nil, &size, nil, 0)
    var text = [CChar](repeating: 0, count: max(size, 1))
    sysctlbyname("machdep.cpu.brand_string", &text, &size, nil, 0)
    return Chip(name: String(cString: text))
    #else
    return Chip(name: "")
    #endif
  }

  /// Memory bandwidth in bytes per second, as published; nil for chips that are not in the list.
  public var bytesPerSecond: Double? {
    let words = name.split(separator: " ")
    guard let first = words.firstIndex(where: { Self.families[String($0)] != nil }),
      let speeds = Self.families[String(words[first])]
    else { return nil }
    let kind = words.dropFirst(first + 1).first.map(String.init) ?? ""
    return (speeds[kind] ?? speeds[""]).map { $0 * 1e9 }
  }

  /// GB/s by family and kind. Where a kind comes with several, the lowest.
  private static let families: [String: [String: Double]] = [
    "M1": ["": 68, "Pro": 200, "Max": 400, "Ultra": 800],
    "M2": ["": 100, "Pro": 200, "Max": 400, "Ultra": 800],
    "M3": ["": 100, "Pro": 150, "Max": 300, "Ultra": 819],
    "M4": ["": 120, "Pro": 273, "Max": 410],
    "M5": ["": 153, "Pro": 307, "Max": 460],
    "A17": ["": 51], "A18": ["": 60], "A19": ["": 68],
  ]
}
