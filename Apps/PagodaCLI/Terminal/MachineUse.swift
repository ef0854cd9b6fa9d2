// MachineUse: how much of the processors other programs used during a measurement, which then shows too little.
import Foundation

/// What other programs used of the processors during a measurement.
package struct OtherUse: Hashable, Sendable {
  package var processorSeconds: Double
  package var wallSeconds: Double
  package var processorCount: Int

  package init(processorSeconds: Double, wallSeconds: Double, processorCount: Int) {
    self.processorSeconds = min(max(processorSeconds, 0), wallSeconds * Double(processorCount))
    self.wallSeconds = wallSeconds
    self.processorCount = processorCount
  }

  /// Processors in use on average.
  package var processors: Double { processorSeconds / wallSeconds }
  /// The same as a share of all, from 0 to 1.
  package var share: Double { processors / Double(processorCount) }

  /// What to say about it; nil if the use hardly matters.
  /// - Parameter least: the use that is worth a word, in processors: threads wait for the one whose processor is shared, so
  ///   one busy processor matters among many.
  package func note(from least: Double) -> String? {
    // The system counts in ticks of a hundredth of a second: two of them may be an error of the count.
    guard processors >= least, processorSeconds >= 0.03 else { return nil }
    let count = processorCount == 1 ? "1 processor" : "\(processorCount) processors"
    return String(format: "machine busy: other programs used %.1f of ", processors) + count
  }

  /// Two measurements as one.
  package func joined(_ other: OtherUse) -> OtherUse {
    OtherUse(
      processorSeconds: processorSeconds + other.processorSeconds, wallSeconds: wallSeconds + other.wallSeconds,
      processorCount: processorCount)
  }
}

/// Processor time since a moment: of this process, and of the whole machine.
package struct MachineUse: Sendable {
  private let own = processSeconds()
  private let all = machineBusySeconds()
  private let start = ContinuousClock.now

  package init() {}

  /// What other programs have used since; nil where the system does not say, or after less than a tenth of a second, which
  /// is too short for the system's clock ticks.
  package func others() -> OtherUse? {
    guard let all, let now = machineBusySeconds() else { return nil }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    if seconds < 0.1 { return nil }
    return OtherUse(
      processorSeconds: now - all - (processSeconds() - own), wallSeconds: seconds,
      processorCount: max(ProcessInfo.processInfo.activeProcessorCount, 1))
  }

  /// The processors that a process may use, from its status, which has a line `Cpus_allowed_list: 0-3,8`: what happens on
  /// others does not matter to it.
  package static func usableProcessors(status: String) -> Set<Int> {
    let name = "Cpus_allowed_list:"
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return [] }
    return line.dropFirst(name.count).split(separator: ",").reduce(into: []) { found, part in
      let ends = part.split(separator: "-").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
      if let first = ends.first, let last = ends.last, first <= last { found.formUnion(first...last) }
    }
  }

  /// Seconds since the start of the system in which processors were busy: `cpuN user nice system idle iowait irq softirq
  /// steal ...`, everything except idle and iowait.
  /// - Parameter processors: those that this process may use.
  package static func busySeconds(stat: String, ticksPerSecond: Double, processors: Set<Int>) -> Double? {
    var (seconds, count) = (0.0, 0)
    for line in stat.split(separator: "\n") where line.hasPrefix("cpu") {
      let words = line.dropFirst(3).split(separator: " ", omittingEmptySubsequences: false)
      guard let number = Int(words[0]), processors.contains(number) else { continue }
      let ticks = words.dropFirst().prefix(8).compactMap { Double($0) }
      guard ticks.count >= 7, ticksPerSecond > 0 else { return nil }
      seconds += (ticks.reduce(0, +) - ticks[3] - ticks[4]) / ticksPerSecond
      count += 1
    }
    return count > 0 ? seconds : nil
  }
}

/// Seconds since the start of the system in which the processors were busy.
private func machineBusySeconds() -> Double? {
  let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
  #if canImport(Darwin)
  var load = host_cpu_load_info()
  var count = mach_msg_type_number_t(MemoryLayout<host_cpu_load_info>.size / MemoryLayout<integer_t>.size)
  let status = withUnsafeMutablePointer(to: &load) { pointer in
    pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) {
      host_statistics(mach_host_self(), HOST_CPU_LOAD_INFO, $0, &count)
    }
  }
  guard status == KERN_SUCCESS, ticksPerSecond > 0 else { return nil }
  let (user, system, _, nice) = load.cpu_ticks  // the third is idle
  return (Double(user) + Double(system) + Double(nice)) / ticksPerSecond
  #else
  func text(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }
  guard let stat = text("/proc/stat"), let status = text("/proc/self/status") else { return nil }
  return MachineUse.busySeconds(
    stat: stat, ticksPerSecond: ticksPerSecond, processors: MachineUse.usableProcessors(status: status))
  #endif
}

private func processSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
