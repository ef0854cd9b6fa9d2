// AddressLimits: limits connections and requests per address, so that one client cannot use up the server. Used only on
// the event loop's thread.

final class AddressLimits: @unchecked Sendable {
  private struct Use {
    var connections = 0
    var requests = 0
  }

  private var uses: [String: Use] = [:]
  private let maximumConnections: Int?
  private let maximumRequests: Int?
  private let defaultConnections: Int
  private let proxies: TrustedProxies

  /// By default limits apply only to other machines: half of all connections, and no limit of requests. Programs
  /// on this machine, including a proxy, share one address, and so do the clients of a trusted proxy elsewhere.
  init(_ limits: HTTPLimits) {
    proxies = limits.proxies
    maximumConnections = limits.connectionsPerAddress
    maximumRequests = limits.requestsPerAddress
    defaultConnections = max(1, limits.connections / 2)
  }

  /// Whether one more connection is too many.
  func isFull(_ address: String) -> Bool {
    let count = uses[address]?.connections ?? 0
    if let maximumConnections { return count >= maximumConnections }
    return !isShared(address) && count >= defaultConnections
  }

  /// Unfinished bodies that the address may have: half of its connections, unless a limit was given.
  func mostBodies(_ address: String) -> Int {
    maximumConnections ?? (isShared(address) ? .max : (defaultConnections + 1) / 2)
  }

  /// Whether one more request is too many.
  func isBusy(_ address: String) -> Bool {
    guard let maximumRequests else { return false }
    return uses[address]?.requests ?? 0 >= maximumRequests
  }

  func add(_ address: String, connections: Int = 0, requests: Int = 0) {
    var use = uses[address] ?? Use()
    use.connections += connections
    use.requests += requests
    uses[address] = use.connections + use.requests == 0 ? nil : use
  }

  private func isShared(_ address: String) -> Bool { Self.isThisMachine(address) || proxies.contains(address) }

  /// Includes Unix sockets, which have no address.
  static func isThisMachine(_ address: String) -> Bool {
    address.isEmpty || address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
  }
}
