// WaitingClients: the clients that the server waits for, and the choice of which to disconnect. No IO.

/// The part of a request that a client still has to send.
struct Waiting: Equatable, Sendable {
  enum Part {
    case nextRequest  // it has been answered, and may send another request
    case head
    case body
  }
  var part: Part
  /// When it last made progress: the start of the part, or of its latest chunk of the size that a slow client sends per
  /// second. Single bytes do not count.
  var since: Double
  var bodyBytes = 0  // received so far of an unfinished body
}

struct WaitingClients {
  private struct Client {
    var address: String
    var waiting: Waiting
  }

  /// Unfinished requests of one address.
  private struct Use {
    var requests = 0
    var bodies = 0
    var bodyBytes = 0

    mutating func add(_ waiting: Waiting, _ sign: Int) {
      requests += sign
      bodies += waiting.part == .body ? sign : 0
      bodyBytes += sign * waiting.bodyBytes
    }
  }

  private var idle: [Int32: Client] = [:]  // by socket
  private var unfinished: [Int32: Client] = [:]
  private var uses: [String: Use] = [:]  // by address
  /// Clients with unfinished requests.
  private(set) var bodies = 0

  var isEmpty: Bool { idle.isEmpty && unfinished.isEmpty }

  func bodies(of address: String) -> Int { uses[address]?.bodies ?? 0 }

  /// Nil means that the server does not wait for the client.
  mutating func set(_ socket: Int32, _ address: String, _ waiting: Waiting?) {
    idle[socket] = nil
    if let client = unfinished.removeValue(forKey: socket) { count(client, -1) }
    guard let waiting else { return }
    let client = Client(address: address, waiting: waiting)
    if waiting.part == .nextRequest {
      idle[socket] = client
    } else {
      unfinished[socket] = client
      count(client, 1)
    }
  }

  private mutating func count(_ client: Client, _ sign: Int) {
    var use = uses[client.address] ?? Use()
    use.add(client.waiting, sign)
    uses[client.address] = use.requests == 0 ? nil : use
    bodies += client.waiting.part == .body ? sign : 0
  }

  /// The client to drop when another one, of any or of the same address, needs its connection: the longest idle one, or
  /// else the slowest unfinished request.
  func firstToLeave(of address: String? = nil) -> Int32? {
    let isMeant = { (client: Client) in address == nil || client.address == address }
    return Self.slowest(idle, where: isMeant) ?? slowest(of: address ?? heaviest(\.requests))
  }

  /// The slowest unfinished body, of the given address or else of the one with the most of them.
  func slowestBody(of address: String? = nil) -> Int32? {
    let address = address ?? heaviest(\.bodies)
    return Self.slowest(unfinished) { $0.waiting.part == .body && $0.address == address }
  }

  /// The slowest unfinished body of the address whose unfinished bodies have the most bytes.
  func slowestWithBytes() -> Int32? {
    let address = heaviest(\.bodyBytes)
    return Self.slowest(unfinished) { $0.waiting.bodyBytes > 0 && $0.address == address }
  }

  private func slowest(of address: String?) -> Int32? { Self.slowest(unfinished) { $0.address == address } }

  private func heaviest(_ weight: KeyPath<Use, Int>) -> String? {
    uses.max { $0.value[keyPath: weight] < $1.value[keyPath: weight] }?.key
  }

  private static func slowest(_ clients: [Int32: Client], where isMeant: (Client) -> Bool) -> Int32? {
    var found: (socket: Int32, since: Double)?
    for (socket, client) in clients where client.waiting.since < found?.since ?? .infinity && isMeant(client) {
      found = (socket, client.waiting.since)
    }
    return found?.socket
  }
}
