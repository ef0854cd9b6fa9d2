// BenchCost: the minimum bytes and operations per token of a test, computed from the model's sizes.
import PagodaKit

/// The cost of one token. Weights are read once per step and shared by the tokens of the step. A sequence reads its
/// keys and values once per step and writes those of its new tokens; it reads its recurrent state once per step and
/// writes it once per block of tokens, at most once per step. Operations are those of the matrices: attention and state
/// are left out.
package struct BenchCost: Equatable, Sendable {
  package var bytes: Double
  package var operations: Double

  package init(_ test: BenchTest, on info: ModelInfo, repetitions: Int) {
    switch test.kind {
    case .prefill(let tokens):
      let steps = Self.chunks(of: tokens, by: info.plan.maximumBatchedTokens)
      var bytes = Double(info.headMatrix.bytes)  // the last token of the prompt is the only one sampled from
      var context = 0
      for step in steps {
        context += step
        bytes += Double(info.layerMatrices.bytes) + Self.sequenceBytes(newTokens: step, context: context, info: info)
      }
      self.bytes = bytes / Double(tokens)
      let layers = Double(info.layerMatrices.parameterCount) * Double(tokens)
      operations = 2 * (layers + Double(info.headMatrix.parameterCount)) / Double(tokens)
    case .decode, .speculative, .batch:  // as if a step generated one token per sequence
      let length = test.length(repetitions: repetitions)
      let context = (test.promptTokens + length) / 2  // halfway through the answer
      let weights = Double(info.layerMatrices.bytes + info.headMatrix.bytes) / Double(test.sequences)
      bytes = weights + Self.sequenceBytes(newTokens: 1, context: context, info: info)
      operations = 2 * Double(info.layerMatrices.parameterCount + info.headMatrix.parameterCount)
    }
  }

  private static func chunks(of tokens: Int, by size: Int) -> [Int] {
    stride(from: 0, to: tokens, by: max(size, 1)).map { min(size, tokens - $0) }
  }

  /// Bytes that a step moves for one sequence, without the weights; `context` includes the new tokens.
  private static func sequenceBytes(newTokens: Int, context: Int, info: ModelInfo) -> Double {
    let plan = info.plan
    let tokenBytes = Double(plan.kvBlockBytes) / Double(plan.blockSize)
    let stateWrites = min(1, Double(newTokens) / Double(plan.blockSize))
    return tokenBytes * Double(context + newTokens) + Double(plan.stateSlotBytes) * (1 + stateWrites)
  }
}

extension MachineLimits {
  /// The arithmetic peak that applies to products with weights of this format.
  package func peak(for weightDType: String) -> Peak {
    if weightDType == "float32" || weightDType == "float16" { return f32 }
    return weightDType == "bfloat16" ? bf16 : int8
  }

  func peak(for limit: OpTime.Limit) -> Peak? {
    switch limit {
    case .read: nil
    case .int8: int8
    case .bf16: bf16
    case .f32: f32
    }
  }
}
