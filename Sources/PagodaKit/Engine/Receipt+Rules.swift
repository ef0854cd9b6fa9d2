// Receipt: the sampling rules with several values, which most answers do not use.
internal import CxxCore

extension Receipt {
  /// Only the rules that are on.
  var rules: [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    func add(_ key: String, _ value: JSONValue) { members.append(.init(key: key, value: value)) }
    if let xtc = sampling.xtc, xtc.probability > 0 {
      add("xtc_probability", .number(xtc.probability))
      add("xtc_threshold", .number(xtc.threshold))
    }
    if let dynamic = sampling.dynamicTemperature, dynamic.range > 0 {
      add("dynatemp_range", .number(dynamic.range))
      add("dynatemp_exponent", .number(dynamic.exponent))
    }
    if let dry = sampling.dry, dry.multiplier > 0 {
      add("dry_multiplier", .number(dry.multiplier))
      add("dry_base", .number(dry.base))
      add("dry_allowed_length", .integer(Int64(dry.allowedLength)))
      add("dry_penalty_last_n", .integer(Int64(dry.window ?? -1)))
      add("dry_sequence_breakers", .array(dry.breakers.map { .string($0) }))
    }
    return members
  }

  mutating func readRules(_ json: JSONValue) {
    for field in SamplingField.all where field.isRule {
      if let value = json[field.key] { try? field.apply(value, to: &sampling) }
    }
  }

  mutating func readRules(_ core: borrowing pagoda.SamplingParams) {
    sampling.xtc = .init(probability: Double(core.xtc_probability), threshold: Double(core.xtc_threshold))
    sampling.dynamicTemperature = .init(range: Double(core.dynatemp_range), exponent: Double(core.dynatemp_exponent))
    sampling.dry = .init(
      multiplier: Double(core.dry.multiplier), base: Double(core.dry.base),
      allowedLength: Int(core.dry.allowed_length), window: core.dry.window < 0 ? nil : Int(core.dry.window),
      breakers: core.dry.breakers.map { String($0) })
  }
}

extension SamplingField {
  fileprivate var isRule: Bool { ["xtc_", "dynatemp_", "dry_"].contains { key.hasPrefix($0) } }
}
