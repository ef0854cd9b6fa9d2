// The order of an object's properties, where a schema states it in `x-order` as Foundation Models' schemas do.

extension JSONValue {
  /// A schema whose properties stand in the order of `x-order`, at every level; the ones that it does not name come last, as
  /// they were. The keyword itself is gone. Encoders write members in any order, and the grammar follows the text.
  func withOrderedProperties() -> JSONValue {
    switch self {
    case .array(let values): return .array(values.map { $0.withOrderedProperties() })
    case .object(let members):
      let order = self["x-order"]?.arrayValue?.compactMap(\.stringValue)
      return .object(
        members.filter { $0.key != "x-order" || order == nil }.map { member in
          var value = member.value.withOrderedProperties()
          if member.key == "properties", let order, case .object(let properties) = value {
            let places = Dictionary(order.enumerated().map { ($1, $0) }) { first, _ in first }
            let sorted = properties.enumerated().sorted {
              (places[$0.element.key] ?? order.count, $0.offset) < (places[$1.element.key] ?? order.count, $1.offset)
            }
            value = .object(sorted.map(\.element))
          }
          return Member(key: member.key, value: value)
        })
    default: return self
    }
  }
}
