// TraceContext: a request's place in a distributed trace, read from and written as W3C's headers.

struct TraceContext: Sendable, Equatable {
  /// 32 hexadecimal digits.
  let traceID: String
  /// The client's span; nil if the trace begins here.
  let parentID: String?
  /// The span of this request: 16 hexadecimal digits.
  let spanID: String
  /// Whether spans are recorded: the client's decision, or yes if the trace begins here.
  let isSampled: Bool
  /// The header `tracestate`, which is passed on unchanged.
  let state: String?

  /// The client's context. Without a valid one, `always` begins a new trace; otherwise the request belongs to none.
  init?(_ request: HTTPRequest, always: Bool) {
    let given = request.values("traceparent")
    let parent = given.count == 1 ? Self.parse(given[0]) : nil
    guard parent != nil || always else { return nil }
    traceID = parent?.trace ?? Self.randomHex(32)
    parentID = parent?.span
    isSampled = parent?.isSampled ?? true
    spanID = Self.randomHex(16)
    let states = request.values("tracestate").joined(separator: ",")
    state = parent == nil || states.isEmpty || states.utf8.count > 512 ? nil : states
  }

  /// `00-TRACE-SPAN-FLAGS` in lower case, with ids that are not all zeros. Later versions may append fields; version
  /// ff is invalid.
  static func parse(_ header: String) -> (trace: String, span: String, isSampled: Bool)? {
    let parts = header.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 4, isHex(parts[0], 2), isHex(parts[1], 32), isHex(parts[2], 16), isHex(parts[3], 2),
      parts[0] != "ff", parts[0] != "00" || parts.count == 4, let flags = UInt8(parts[3], radix: 16),
      parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
    else { return nil }
    return (parts[1], parts[2], flags & 1 == 1)
  }

  /// For requests that this one causes.
  var requestHeaders: [String: String] {
    var headers = ["traceparent": line]
    if let state { headers["tracestate"] = state }
    return headers
  }

  /// `traceresponse`, for a client that sent a context.
  var responseHeader: String? { parentID == nil ? nil : line }

  private var line: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

  private static func isHex(_ text: String, _ count: Int) -> Bool {
    text.utf8.count == count
      && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (97...102).contains($0) }
  }

  /// Not all zeros.
  static func randomHex(_ count: Int) -> String {
    var text = ""
    while text.utf8.count < count {
      let digits = String(UInt64.random(in: 1...UInt64.max), radix: 16)
      text += String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
    return text
  }
}
