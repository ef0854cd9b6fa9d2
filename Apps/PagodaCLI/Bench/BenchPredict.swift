// BenchPredict: the speed of a GPU that is not here, from what the dry device counts and from the kernels' texts.
import Foundation
import PagodaKit

/// What a prediction needs to know of a GPU. Of Apple's chips only the sizes are published; cycles are those of measurements
/// of the M1 and M2, and guesses for later ones, so expect an error of 30 per cent either way.
package struct GPUProfile: Sendable {
  package var name: String
  var description: String
  var cores: Double
  var gigahertz: Double
  var gigabytesPerSecond: Double
  /// Lane cycles of an average instruction of unpacking, of which a third are shifts.
  var cyclesPerInstruction: Double
  /// The same for products without matrix units, of whose instructions one in twenty is a shift; nil where they are not used.
  var cyclesPerScalarInstruction: Double?
  /// Lane cycles per weight in 8x8 matrix products for up to 8 rows, with the tiles passed through threadgroup memory.
  var matrixCycles: Double
  var secondsPerLaunch: Double
  var secondsPerToken: Double  // of waiting
  var overlapsLaunches = false
  /// Tokens per second that others published for mlx-lm with 4 bits, by shape; docs/performance.md has the sources.
  var published: [String: Double] = [:]

  static let lanesPerCore = 128.0
  static let reachedBandwidth = 0.85

  package static let all = [
    GPUProfile(
      name: "m1", description: "Apple M1, 8 GPU cores", cores: 8, gigahertz: 1.278, gigabytesPerSecond: 68.3,
      cyclesPerInstruction: 2, cyclesPerScalarInstruction: 1.2, matrixCycles: 10, secondsPerLaunch: 3.5e-6,
      secondsPerToken: 0.5e-3),
    GPUProfile(
      name: "m4", description: "Apple M4, 10 GPU cores", cores: 10, gigahertz: 1.58, gigabytesPerSecond: 120,
      cyclesPerInstruction: 1.5, cyclesPerScalarInstruction: 1.1, matrixCycles: 7, secondsPerLaunch: 3.5e-6,
      secondsPerToken: 0.5e-3,
      published: ["qwen3.5-0.8b": 192, "qwen3.5-4b": 39, "qwen3.5-9b": 22]),
    GPUProfile(
      name: "m4-pro", description: "Apple M4 Pro, 20 GPU cores", cores: 20, gigahertz: 1.58, gigabytesPerSecond: 273,
      cyclesPerInstruction: 1.5, cyclesPerScalarInstruction: 1.1, matrixCycles: 7, secondsPerLaunch: 3.5e-6,
      secondsPerToken: 0.5e-3,
      published: ["qwen3.5-9b": 43.4]),
    GPUProfile(
      name: "m5", description: "Apple M5, 10 GPU cores", cores: 10, gigahertz: 1.62, gigabytesPerSecond: 153.6,
      cyclesPerInstruction: 1.5, cyclesPerScalarInstruction: 1.1, matrixCycles: 7, secondsPerLaunch: 3.5e-6,
      secondsPerToken: 0.5e-3),
    // Where the model can be compared with measurements. Half of a multiprocessor's lanes run logic and shifts.
    GPUProfile(
      name: "h200", description: "NVIDIA H200", cores: 132, gigahertz: 1.98, gigabytesPerSecond: 4800,
      cyclesPerInstruction: 2, matrixCycles: 1, secondsPerLaunch: 2.6e-6, secondsPerToken: 0.02e-3,
      overlapsLaunches: true),
  ]
}

/// The counts of one token, and the speed that follows from them.
package struct Prediction: Sendable {
  package var launches: Double
  package var barriers: Double
  package var bytes: Double
  package var weights: Double
  package var instructionsPerWeight: Double  // of unpacking; matrix units multiply
  package var scalarInstructionsPerWeight: Double  // of unpacking and multiplying without them
  package var registers: Int  // of the kernel that needs most
  package var threadgroupBytes: Int

  package init(
    launches: Double, barriers: Double, bytes: Double, weights: Double, instructionsPerWeight: Double,
    scalarInstructionsPerWeight: Double = 0, registers: Int = 0, threadgroupBytes: Int = 0
  ) {
    self.launches = launches
    self.barriers = barriers
    self.bytes = bytes
    self.weights = weights
    self.instructionsPerWeight = instructionsPerWeight
    self.scalarInstructionsPerWeight = scalarInstructionsPerWeight
    self.registers = registers
    self.threadgroupBytes = threadgroupBytes
  }

  func memorySeconds(_ gpu: GPUProfile) -> Double {
    bytes / (gpu.gigabytesPerSecond * 1e9 * GPUProfile.reachedBandwidth)
  }

  /// Of products on matrix units, or without them.
  func arithmeticSeconds(_ gpu: GPUProfile, isScalar: Bool = false) -> Double {
    let cycles =
      isScalar
      ? scalarInstructionsPerWeight * (gpu.cyclesPerScalarInstruction ?? 0)
      : instructionsPerWeight * gpu.cyclesPerInstruction + gpu.matrixCycles
    return weights * cycles / (gpu.cores * GPUProfile.lanesPerCore * gpu.gigahertz * 1e9)
  }

  /// Loads and arithmetic overlap; launches and the wait for the token do not.
  package func tokensPerSecond(_ gpu: GPUProfile, isScalar: Bool = false) -> Double {
    let work = max(memorySeconds(gpu), arithmeticSeconds(gpu, isScalar: isScalar))
    return 1 / (work + launches * gpu.secondsPerLaunch + gpu.secondsPerToken)
  }

  static let table = BenchTable(columns: [
    ("test", 12), ("launches", 8), ("barriers", 8), ("MB/token", 9), ("instr/weight", 12), ("registers", 9),
    ("threadgroup", 11), ("memory ms", 9), ("arithm. ms", 10), ("tok/s", 7), ("scalar", 6), ("mlx-lm", 6),
  ])

  func cells(_ test: String, _ gpu: GPUProfile, published: Double?) -> [String] {
    [
      test, String(format: "%.0f", launches), String(format: "%.0f", barriers), String(format: "%.1f", bytes / 1e6),
      String(format: "%.1f", instructionsPerWeight), "\(registers)", "\(threadgroupBytes) B",
      String(format: "%.2f", memorySeconds(gpu) * 1e3), String(format: "%.2f", arithmeticSeconds(gpu) * 1e3),
      String(format: "%.0f", tokensPerSecond(gpu)),
      gpu.cyclesPerScalarInstruction == nil ? "-" : String(format: "%.0f", tokensPerSecond(gpu, isScalar: true)),
      published.map { String(format: "%.0f", $0) } ?? "-",
    ]
  }
}

extension BenchRunner {
  /// Counts each test on the dry device and prints the speed that follows for a GPU.
  func printPredictions(_ tests: [BenchTest], for gpu: GPUProfile, shape: String?) async throws {
    Terminal.write(
      fittingLine("Predicted for \(gpu.description), 30 per cent either way") + "\n\n" + Prediction.table.heading())
    for test in tests {
      guard case .decode = test.kind else { throw CommandFailure("--predict takes tests of one answer, such as tg64") }
      let cost = BenchCost(test, on: engine.info, repetitions: repetitions)
      let times = try await counts(test)
      guard
        let count = BenchCount(test, times: times, leastBytes: cost.bytes, layerCount: engine.info.layerCount)
      else { throw CommandFailure("--predict is for devices that launch kernels, not \(engine.info.device)") }
      let steps = Double(times.first { $0.name == "embedding" }?.calls ?? 1)
      let kernels = try await counts(test, byKernel: true).filter { $0.calls > 0 }
        .compactMap { KernelCosts.of($0.name) }
      let instructions = KernelCosts.instructionsPerWeight(engine.info.weightDType)
      let prediction = Prediction(
        launches: count.launchesPerStep, barriers: Double(times.first { $0.name == "barrier" }?.calls ?? 0) / steps,
        bytes: count.bytesPerToken, weights: cost.operations / 2,
        instructionsPerWeight: instructions.unpacking, scalarInstructionsPerWeight: instructions.scalar,
        registers: kernels.map(\.registers).max() ?? 0, threadgroupBytes: kernels.map(\.threadgroupBytes).max() ?? 0)
      let published = engine.info.weightDType.contains("4") ? shape.flatMap { gpu.published[$0] } : nil
      Terminal.write(Prediction.table.line(prediction.cells(test.name, gpu, published: published)))
    }
  }
}
