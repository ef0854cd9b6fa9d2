// The output of `pagoda bench`: rows as in llama-bench, or JSON; and the time per operation.
import Foundation
import PagodaKit

/// One test's outcome.
package struct BenchRow: Sendable {
  package var test: BenchTest
  package var speeds: [Double]  // tokens per second, one per repetition
  package var cost: BenchCost
  package var limits: [MachineLimits]  // measured just before and just after
  package var weightDType: String
  package var others: OtherUse?  // by other programs during the test
  package var othersAtLimits: OtherUse?  // the same while the limits were measured

  /// The median.
  package var speed: Double {
    let sorted = speeds.sorted()
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }
  var spread: Double { ((speeds.max() ?? 0) - (speeds.min() ?? 0)) / 2 }
  var readBytesPerSecond: Double { mean(limits.map(\.readBytesPerSecond)) }
  var peakOperationsPerSecond: Double { mean(limits.map { $0.peak(for: weightDType).operationsPerSecond }) }
  package var percentOfBandwidth: Double { 100 * speed * cost.bytes / readBytesPerSecond }
  package var percentOfPeak: Double { 100 * speed * cost.operations / peakOperationsPerSecond }

  private func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(max(values.count, 1)) }
}

/// The operations of one more run of a test.
package struct BenchProfile: Sendable {
  package var test: BenchTest
  package var times: [OpTime]
  package var limits: MachineLimits
  /// Whether `times` are those of kernels, each launched alone.
  package var isByKernel = false

  /// The share of its own limit that an operation reached.
  func percentOfLimit(_ time: OpTime) -> Double {
    guard time.seconds > 0 else { return 0 }
    if let peak = limits.peak(for: time.limit) {
      return 100 * time.operations / time.seconds / peak.operationsPerSecond
    }
    return 100 * time.bytes / time.seconds / limits.readBytesPerSecond
  }

  var totalSeconds: Double { times.reduce(0) { $0 + $1.seconds } }
}

package enum BenchReport {
  static func table(modelName: String) -> BenchTable {
    BenchTable(
      columns: [
        ("model", max(modelName.count, 5)), ("size", 9), ("params", 8), ("format", 9), ("threads", 7), ("test", 12),
        ("tok/s", 17), ("GB/token", 8), ("% read", 6), ("% compute", 9),
      ], sharedCount: 5)
  }

  /// The cells that all rows have in common.
  static func sharedCells(modelName: String, info: ModelInfo, limits: MachineLimits?) -> [String] {
    // As in its files, whose size is known everywhere.
    let isMini = modelName == "mini" && info.weightDType == "bfloat16"
    return [
      modelName, isMini ? megabytes(MiniModelSize.bytes) : readable(bytes: info.plan.weightsBytes),
      String(format: "%.2f M", Double(info.parameterCount) / 1e6), info.weightDType, String(limits?.threadCount ?? 0),
    ]
  }

  static func cells(_ row: BenchRow, modelName: String, info: ModelInfo) -> [String] {
    sharedCells(modelName: modelName, info: info, limits: row.limits.first) + [
      row.test.name, String(format: "%.2f ± %.2f", row.speed, row.spread),
      String(format: "%.4f", row.cost.bytes / 1e9), String(format: "%.1f", row.percentOfBandwidth),
      String(format: "%.1f", row.percentOfPeak),
    ]
  }

  static func limits(_ limits: MachineLimits, info: ModelInfo) -> String {
    if limits.threadCount == 0 {
      let own = String(
        format: "copy %.2f GB/s read and written, products of 16 bits %.4f T/s", limits.readBytesPerSecond / 1e9,
        limits.bf16.operationsPerSecond / 1e12)
      return fittingLine("\(info.device)\nlimits of the device: \(own)") + "\n\n"
    }
    let peaks = [("int8", limits.int8), ("bf16", limits.bf16), ("f32", limits.f32)].map {
      String(format: "%@ %.2f T/s (%@)", $0.0, $0.1.operationsPerSecond / 1e12, $0.1.instruction)
    }
    let read = String(format: "read %.1f GB/s", limits.readBytesPerSecond / 1e9)
    let all = ([read] + peaks).joined(separator: ", ")
    return fittingLine("\(info.device)\nlimits of \(limits.threadCount) threads: \(all)") + "\n\n"
  }

  static let footnote = """

    tok/s: median ± half of the range. % read: of the bandwidth, % compute: of the arithmetic peak of the format, both the
    mean of a measurement just before and one just after the test. With +spec bytes and arithmetic are those of a token a
    step: above 100 means that a step made more.

    """

  /// Why rows should not be trusted; empty if nothing speaks against them.
  package static func warnings(_ rows: [BenchRow]) -> String {
    let text = rows.map { row in
      let percent = row.test.isSpeculative ? 0 : max(row.percentOfBandwidth, row.percentOfPeak)
      return doubts(row.test.name, percentOfLimit: percent, others: row.others, atLimits: row.othersAtLimits)
    }.joined()
    return text.isEmpty ? "" : "\nWarning: measure again on an idle machine.\n" + text
  }

  /// The use by other programs, in processors, that changes a result by some per cent.
  static let distortingUse = 0.1

  /// Why a result cannot be trusted, in lines; empty if it can.
  package static func doubts(_ name: String, percentOfLimit: Double, others: OtherUse?, atLimits: OtherUse?) -> String {
    var lines: [String] = []
    if let note = others?.note(from: distortingUse) { lines.append("\(note); the speed is too low") }
    if let note = atLimits?.note(from: distortingUse) {
      lines.append("\(note) while the limits were measured; the shares of them are too high")
    } else if percentOfLimit > 120 {  // limits are measured with an error of some per cent
      let reason = atLimits == nil ? "the machine was busy while its limits were measured" : "its limits are too low"
      lines.append("above 100 per cent: \(reason), or the model is in the processor's caches")
    }
    return lines.map { "\(name): \($0).\n" }.joined()
  }

  static func profile(_ profile: BenchProfile) -> String {
    guard !profile.times.isEmpty else { return "\n\(profile.test.name): this device measures no time per operation\n" }
    if profile.isByKernel { return kernels(profile) }
    let table = BenchTable(columns: [
      (profile.test.name, 20), ("calls", 8), ("ms", 9), ("share %", 7), ("GB/s", 7), ("G/s", 8), ("limit", 5),
      ("% of it", 7),
    ])
    let lines = profile.times.sorted { $0.seconds > $1.seconds }.map { time in
      let seconds = max(time.seconds, 1e-9)
      return table.line([
        time.name, String(time.calls), String(format: "%.2f", time.seconds * 1e3),
        String(format: "%.1f", 100 * time.seconds / max(profile.totalSeconds, 1e-9)),
        String(format: "%.2f", time.bytes / seconds / 1e9), String(format: "%.1f", time.operations / seconds / 1e9),
        time.limit.rawValue, String(format: "%.1f", profile.percentOfLimit(time)),
      ])
    }
    return "\n" + table.heading() + lines.joined()
  }
  private static func kernels(_ profile: BenchProfile) -> String {
    let table = BenchTable(columns: [
      (profile.test.name, 28), ("launches", 8), ("us each", 9), ("ms", 9), ("share %", 7),
    ])
    let lines = profile.times.sorted { $0.seconds > $1.seconds }.map { time in
      table.line([
        time.name, String(time.calls), String(format: "%.2f", time.seconds * 1e6 / Double(max(time.calls, 1))),
        String(format: "%.2f", time.seconds * 1e3),
        String(format: "%.1f", 100 * time.seconds / max(profile.totalSeconds, 1e-9)),
      ])
    }
    return "\n" + table.heading() + lines.joined()
  }
}
