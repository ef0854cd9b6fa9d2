// MachineUse: how much of the processors other programs used during a measurement, which then shows too little.
import Foundation

/// Processor time since a moment: of this process, and of the whole machine.
package struct MachineUse: Sendable {
  private let own = processSeconds()
  private let all = Self.busySeconds()
  private let start = ContinuousClock.now

  package init() {}

  /// The share of all processors that other programs have used since, from 0 to 1; nil where the system does not say, or
  /// after less than a tenth of a second, which is too short for the system's clock ticks.
  package func others() -> Double? {
    guard let all, let now = Self.busySeconds() else { return nil }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    if seconds < 0.1 { return nil }
    return Self.share(
      busy: now - all, own: processSeconds() - own, wall: seconds,
      processors: ProcessInfo.processInfo.activeProcessorCount)
  }

  package static func share(busy: Double, own: Double, wall: Double, processors: Int) -> Double {
    min(max((busy - own) / (wall * Double(max(processors, 1))), 0), 1)
  }

  /// Seconds that all processors were busy since the start of the system, from the first line of /proc/stat.
  private static func busySeconds() -> Double? {
    guard let data = FileManager.default.contents(atPath: "/proc/stat") else { return nil }
    return busySeconds(stat: String(decoding: data, as: UTF8.self), ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))))
  }

  /// `cpu user nice system idle iowait irq softirq steal ...`: everything except idle and iowait.
  package static func busySeconds(stat: String, ticksPerSecond: Double) -> Double? {
    guard let line = stat.split(separator: "\n").first, line.hasPrefix("cpu "), ticksPerSecond > 0 else { return nil }
    let ticks = line.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
    guard ticks.count >= 7 else { return nil }
    return (ticks.reduce(0, +) - ticks[3] - ticks[4]) / ticksPerSecond
  }
}

private func processSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// What to say about other programs; nil if they hardly matter.
package func busyNote(_ others: Double?) -> String? {
  guard let others, others >= 0.2 else { return nil }
  return "machine busy: others used \(Int((others * 100).rounded())) %"
}
