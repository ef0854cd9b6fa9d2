// The order of an object's properties, if a schema states it in `x-order` as Foundation Models' schemas do.

extension JSONValue {
  /// A schema whose properties are in the order of `x-order`, at every level; properties not listed there come last, in
  /// their original order. The keyword is removed. Encoders write members in any order, and the grammar follows the
  /// text.
  func withOrderedProperties() -> JSONValue {
    switch self {
    case .array(let values): return .array(values.map { $0.withOrderedProperties() })
    case .object(let members):
      let order = self["x-order"]?.arrayValue?.compactMap(\.stringValue)
      return .object(
        members.filter { $0.key != "x-order" || order == nil }.map { member in
          var value = member.value.withOrderedProperties()
          if member.key == "properties", let order, case .object(let properties) = value {
            let indices = Dictionary(order.enumerated().map { ($1, $0) }) { first, _ in first }
            let sorted = properties.enumerated().sorted {
              (indices[$0.element.key] ?? order.count, $0.offset) < (indices[$1.element.key] ?? order.count, $1.offset)
            }
            value = .object(sorted.map(\.element))
          }
          return Member(key: member.key, value: value)
        })
    default: return self
    }
  }
}
