// The JSON of `pagoda bench`. Member order and names are part of the interface.
import PagodaKit

extension JSONValue {
  static func bench(
    limits: MachineLimits, rows: [BenchRow], profiles: [BenchProfile]?, info: ModelInfo, name: String
  ) -> JSONValue {
    var members = [
      Member(key: "limits", value: self.limits(limits)),
      Member(key: "rows", value: .array(rows.map(row))),
    ]
    if let profiles { members.append(Member(key: "profile", value: .array(profiles.map(profile)))) }
    let model: KeyValuePairs<String, JSONValue> = [
      "name": .string(name), "architecture": .string(info.architecture), "format": .string(info.weightDType),
      "kv_dtype": .string(info.kvDType), "state_dtype": info.stateDType.map { .string($0) } ?? .null,
      "num_parameters": .integer(info.parameterCount),
      "weights_bytes": .integer(info.plan.weightsBytes), "device": .string(info.device),
      "max_num_batched_tokens": .integer(Int64(info.plan.maximumBatchedTokens)),
      "weight_cache_note": info.weightCacheNote.map { .string($0) } ?? .null,
      "load_seconds": info.load.map { .number($0.seconds) } ?? .null,
    ]
    members.append(Member(key: "model", value: .object(model)))
    members.append(Member(key: "version", value: .string(PagodaVersion.current)))
    return .object(members)
  }

  private static func limits(_ limits: MachineLimits) -> JSONValue {
    .object([
      "threads": .integer(Int64(limits.threadCount)),
      "read_gb_s": .number(limits.readBytesPerSecond / 1e9),
      "int8_tops": .number(limits.int8.operationsPerSecond / 1e12),
      "int8_instruction": .string(limits.int8.instruction),
      "bf16_tflops": .number(limits.bf16.operationsPerSecond / 1e12),
      "bf16_instruction": .string(limits.bf16.instruction),
      "f32_tflops": .number(limits.f32.operationsPerSecond / 1e12),
      "f32_instruction": .string(limits.f32.instruction),
    ])
  }

  private static func row(_ row: BenchRow) -> JSONValue {
    .object([
      "test": .string(row.test.name), "tok_s": .number(row.speed),
      "samples": .array(row.speeds.map { .number($0) }),
      "gb_per_token": .number(row.cost.bytes / 1e9), "gop_per_token": .number(row.cost.operations / 1e9),
      "pct_bandwidth": .number(row.percentOfBandwidth), "pct_compute": .number(row.percentOfPeak),
      "read_gb_s": .number(row.readBytesPerSecond / 1e9), "peak_tops": .number(row.peakOperationsPerSecond / 1e12),
      "pct_other_programs": row.others.map { .number(100 * $0.share) } ?? .null,
      "pct_other_programs_at_limits": row.othersAtLimits.map { .number(100 * $0.share) } ?? .null,
    ])
  }

  private static func profile(_ profile: BenchProfile) -> JSONValue {
    let operations = profile.times.map { time in
      JSONValue.object([
        "op": .string(time.name), "calls": .integer(time.calls), "seconds": .number(time.seconds),
        "bytes": .number(time.bytes), "operations": .number(time.operations), "limit": .string(time.limit.rawValue),
        "pct_limit": .number(profile.percentOfLimit(time)),
      ])
    }
    return .object(["test": .string(profile.test.name), profile.isByKernel ? "kernels" : "ops": .array(operations)])
  }
}
