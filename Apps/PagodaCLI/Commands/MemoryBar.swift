// The memory plan as a bar: the device memory used by the weights, the caches and the workspace.
import PagodaKit

package func memoryBar(_ plan: MemoryPlan, width: Int) -> String {
  var parts: [(name: String, shade: Character, bytes: Int64)] = [
    ("weights", "█", plan.weightsBytes), ("KV cache", "▓", plan.kvBytes),
    ("states", "▒", plan.stateBytes + plan.checkpointBytes), ("workspace", "▚", plan.workspaceBytes),
  ]
  let visionBytes = plan.visionBytes - plan.visionHostBytes
  if visionBytes > 0 { parts.append(("vision tower", "▞", visionBytes)) }
  // Host memory is part of the total unless the device has dedicated memory.
  if plan.hostCacheBytes > 0, plan.totalBytes > parts.reduce(0, { $0 + $1.bytes }) {
    parts.append(("host cache", "░", plan.hostCacheBytes))
  }
  return memoryBar(parts, limit: max(plan.deviceLimitBytes, plan.totalBytes, 1), width: width)
}

/// Without a space to break at.
private func glued(_ text: String) -> String { text.replacing(" ", with: "\u{A0}") }

/// The bar, and its legend, which breaks between the parts.
package func memoryBar(
  _ parts: [(name: String, shade: Character, bytes: Int64)], limit: Int64, width: Int
) -> String {
  let columns = max(min(width, 80) - 4, 10)
  var bar = ""
  var sum: Int64 = 0
  for part in parts {
    sum += part.bytes
    // Cumulative, so that rounding errors do not add up; every nonzero part gets at least one column.
    let end = Int((Double(sum) / Double(limit) * Double(columns)).rounded())
    let count = max(end - bar.count, part.bytes > 0 && bar.count < columns ? 1 : 0)
    bar += String(repeating: part.shade, count: min(count, columns - bar.count))
  }
  bar += String(repeating: "·", count: columns - bar.count)
  let legend = "  " + (parts.map { "\($0.shade) \($0.name)" } + ["· free"]).map(glued).joined(separator: "  ")
  return "  \(bar)\n" + wrapped(legend, width: width).replacing("\u{A0}", with: " ") + "\n"
}
