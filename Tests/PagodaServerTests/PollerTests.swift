// Waiting for sockets: every poller reports the same events.
import Foundation
import Testing

@testable import PagodaServer

@Suite struct PollerTests {
  private static func all() throws -> [any Poller] { [PollPoller(), try #require(Pollers.make())] }

  @Test func every_poller_reports_the_requested_events() throws {
    for poller in try Self.all() {
      let (one, other) = try #require(Sockets.pair())
      poller.set(one, [.read])
      #expect(poller.wait(seconds: 0).isEmpty)
      poller.set(one, [.read, .write])
      #expect(poller.wait(seconds: 0).map { $0.canWrite && !$0.canRead } == [true])
      poller.set(one, [])
      var byte: UInt8 = 1
      withUnsafeBytes(of: &byte) { _ = Sockets.send(other, $0) }
      #expect(poller.wait(seconds: 0).isEmpty)
      poller.set(one, [.read])
      #expect(poller.wait(seconds: nil).map { $0.canRead && $0.socket == one } == [true])
      poller.remove(one)
      #expect(poller.wait(seconds: 0).isEmpty)
      poller.set(one, [])
      close(other)
      #expect(poller.wait(seconds: 1).map(\.isBroken) == [true])
      poller.remove(one)
      close(one)
    }
  }

  @Test func removing_one_leaves_the_others() throws {
    for poller in try Self.all() {
      let pairs = try (0..<5).map { _ in try #require(Sockets.pair()) }
      for pair in pairs { poller.set(pair.0, [.write]) }
      for index in [0, 3] { poller.remove(pairs[index].0) }
      #expect(Set(poller.wait(seconds: 0).map(\.socket)) == Set([1, 2, 4].map { pairs[$0].0 }))
      for pair in pairs { [pair.0, pair.1].forEach { close($0) } }
    }
  }
}
