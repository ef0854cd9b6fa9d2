// Which waiting client is disconnected first: idle ones, then the slowest request of the address with the most clients.
import Testing

@testable import PagodaServer

@Suite struct WaitingTests {
  private func clients(_ list: [(String, Waiting)]) -> WaitingClients {
    var clients = WaitingClients()
    for (index, (address, waiting)) in list.enumerated() { clients.set(Int32(index), address, waiting) }
    return clients
  }

  /// All clients, in the order in which they are disconnected.
  private func order(_ clients: WaitingClients, of address: String? = nil) -> [Int32] {
    var (clients, order) = (clients, [Int32]())
    while let socket = clients.firstToLeave(of: address) {
      order.append(socket)
      clients.set(socket, "", nil)
    }
    return order
  }

  @Test func idle_clients_leave_first_and_then_the_slowest_requests() {
    let all = clients([
      ("a", Waiting(part: .body, since: 1)), ("a", Waiting(part: .nextRequest, since: 9)),
      ("a", Waiting(part: .head, since: 3)), ("a", Waiting(part: .nextRequest, since: 8)),
      ("a", Waiting(part: .body, since: 2, bodyBytes: 100)),
    ])
    #expect(order(all) == [3, 1, 0, 4, 2])
    #expect(order(all, of: "b").isEmpty && !all.isEmpty && WaitingClients().isEmpty)
  }

  @Test func a_client_of_another_address_keeps_its_position() {
    let slow = Waiting(part: .body, since: 1)
    let all = clients([("victim", slow)] + (2..<9).map { ("attacker", Waiting(part: .body, since: Double($0))) })
    #expect(order(all).prefix(6) == [1, 2, 3, 4, 5, 6])
    #expect(order(all, of: "victim") == [0])
  }

  @Test func bodies_are_counted_by_address_and_by_their_bytes() {
    var all = clients([
      ("a", Waiting(part: .body, since: 5, bodyBytes: 10)), ("a", Waiting(part: .body, since: 4, bodyBytes: 10)),
      ("b", Waiting(part: .body, since: 6, bodyBytes: 90)), ("b", Waiting(part: .head, since: 1)),
      ("b", Waiting(part: .head, since: 2)),
    ])
    #expect(all.bodies == 3 && all.bodies(of: "a") == 2 && all.bodies(of: "b") == 1 && all.bodies(of: "c") == 0)
    #expect(all.slowestBody() == 1 && all.slowestBody(of: "b") == 2 && all.slowestWithBytes() == 2)
    all.set(2, "b", Waiting(part: .body, since: 7))
    #expect(all.bodies == 3 && all.slowestWithBytes() == 1)
    for socket in Int32(0)..<5 { all.set(socket, "", nil) }
    #expect(all.bodies == 0 && all.bodies(of: "a") == 0 && all.isEmpty && all.slowestBody() == nil)
  }

  @Test func bodies_of_one_address_and_of_all_have_bounds() {
    var limits = HTTPLimits()
    limits.connections = 16
    #expect(limits.unfinishedBodies == 12)
    #expect(AddressLimits(limits).mostBodies("192.0.2.1") == 4 && AddressLimits(limits).mostBodies("::1") == .max)
    limits.connectionsPerAddress = 3
    #expect(AddressLimits(limits).mostBodies("192.0.2.1") == 3 && AddressLimits(limits).mostBodies("::1") == 3)
  }
}
