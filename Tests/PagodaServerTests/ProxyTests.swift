// Clients behind trusted proxies: their addresses, and the limits that count by them.
import Foundation
import PagodaKit
import PagodaMini
import Testing

@testable import PagodaServer

@Suite(.ownThread) struct ProxyTests {
  private func client(_ proxies: TrustedProxies, _ forwarded: String, from address: String = "127.0.0.1") -> String {
    let headers = [HTTPHeader("x-forwarded-for", forwarded)]
    return proxies.client(of: HTTPRequest(method: "GET", path: "/", headers: headers, address: address))
  }

  @Test func an_entry_that_is_no_address_ends_the_chain() throws {
    let proxies = try TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fe80::/10"])
    for wrong in [
      "192.0.2.1:x", "192.0.2.1:", "192.0.2.1:99999", "[2001:db8::1]x", "[2001:db8::1]:", "[2001:db8::1", "192.0.2",
      "192.0.2.1 x", "\"192.0.2.1\"", "for=192.0.2.1", "fe80::1%eth0",
    ] {
      #expect(client(proxies, wrong) == "127.0.0.1", "\(wrong)")
      #expect(client(proxies, "192.0.2.1, \(wrong), 10.0.0.1") == "10.0.0.1", "\(wrong)")
    }
    #expect(client(proxies, "192.0.2.1:80") == "192.0.2.1" && client(proxies, "[2001:db8::1]:80") == "2001:db8::1")
    #expect(client(proxies, "[2001:db8::1]") == "2001:db8::1")
    #expect(client(proxies, "192.0.2.1", from: "fe80::1%eth0") == "192.0.2.1", "a link-local proxy has its interface")
  }

  @Test func the_addresses_of_an_ipv6_network_guess_together() {
    let failed = FailedKeys()
    for index in 0..<FailedKeys.perMinute {
      #expect(failed.count("guess \(index)", from: "2001:db8:1:2::\(index + 1)", now: 0) == nil)
    }
    #expect(failed.count("guess", from: "2001:db8:1:2:ffff:ffff:ffff:ffff", now: 0) != nil)
    #expect(failed.count("guess", from: "2001:db8:1:3::1", now: 0) == nil, "another network")
    #expect(TrustedProxies.network(of: "::ffff:192.0.2.1") == "::ffff:192.0.2.1", "IPv4 has no such networks")
    #expect(TrustedProxies.network(of: "192.0.2.1") == "192.0.2.1" && TrustedProxies.network(of: "") == "")
  }

  @Test func a_trusted_proxy_elsewhere_may_use_all_connections() throws {
    var limits = HTTPLimits()
    limits.connections = 4
    limits.proxies = try TrustedProxies(["192.0.2.0/24"])
    let addresses = AddressLimits(limits)
    for address in ["192.0.2.1", "198.51.100.1"] { addresses.add(address, connections: 2) }
    #expect(!addresses.isFull("192.0.2.1") && addresses.isFull("198.51.100.1"))
    #expect(addresses.mostBodies("192.0.2.1") == .max && addresses.mostBodies("198.51.100.1") == 1)
  }

  @Test func requests_in_flight_are_counted_by_the_address_that_a_trusted_proxy_reports() async throws {
    let server = try await Shared.start {
      $0.trustedProxies = ["127.0.0.1"]
      $0.maximumRequestsPerAddress = 1
    }
    func busy(_ address: String) throws -> HTTPClient {
      let client = try server.client()
      try client.request(
        "POST", "/v1/chat/completions", headers: ["X-Forwarded-For": address], body: Shared.endless())
      _ = try client.firstBytes()
      return client
    }
    func status(_ address: String) throws -> Int {
      try server.post(
        "/v1/chat/completions", Shared.chat("Hello!", ",\"max_tokens\":1"), headers: ["X-Forwarded-For": address]
      ).status
    }
    let first = try busy("192.0.2.1")
    #expect(try status("192.0.2.1") == 429)
    #expect(try status("192.0.2.2") == 200)
    first.close()
    #expect(try await eventually { (try? status("192.0.2.1")) == 200 }, "the count ends with the request")
    await server.shutDown(drainSeconds: 0)
  }
}
