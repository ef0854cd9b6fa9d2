// A number of bytes in the unit that suits it, for messages and tables.
internal import Foundation

/// Formats 1536 as `1.50 KiB`: three digits.
package func readable(bytes: Int64) -> String {
  let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
  var value = Double(bytes)
  var unit = 0
  while value >= 1024 && unit < units.count - 1 {
    value /= 1024
    unit += 1
  }
  return unit == 0 ? "\(bytes) bytes" : String(format: value < 10 ? "%.2f " : "%.1f ", value) + units[unit]
}
