// Stored responses: bounded by bytes and by number, and one owner's are not another's.
import Foundation
import PagodaKit
import Testing

@testable import PagodaServer

@Suite struct ResponseStoreTests {
  private func response(_ id: String, _ text: String = "") -> JSONValue {
    .object(["id": .string(id), "output": .array([.string(text)])])
  }

  @Test func the_oldest_go_when_there_are_too_many() {
    let store = ResponseStore(maximumBytes: 1 << 20, maximumCount: 3)
    for index in 0..<5 { store.add(response("resp_\(index)"), input: [], owner: "a") }
    #expect((0..<5).map { store.find("resp_\($0)", owner: "a") != nil } == [false, false, true, true, true])
  }

  @Test func the_oldest_go_when_they_are_too_large() {
    let store = ResponseStore(maximumBytes: 1000)
    let text = String(repeating: "x", count: 300)
    for index in 0..<4 { store.add(response("resp_\(index)", text), input: [.string("y")], owner: "a") }
    #expect(store.find("resp_0", owner: "a") == nil)
    #expect(store.find("resp_3", owner: "a")?.input == [.string("y")])
    store.add(response("resp_large", String(repeating: "x", count: 2000)), input: [], owner: "a")
    #expect(store.find("resp_large", owner: "a") == nil, "one that does not fit takes no other's place")
    #expect(store.find("resp_3", owner: "a") != nil)
  }

  @Test func an_owner_of_many_takes_the_place_of_no_others() {
    let store = ResponseStore(maximumBytes: 4000, maximumCount: 100)
    store.add(response("resp_own"), input: [], owner: "a")
    for index in 0..<40 {
      store.add(response("resp_\(index)", String(repeating: "x", count: 300)), input: [], owner: "b")
    }
    #expect(store.find("resp_own", owner: "a") != nil)
    #expect(store.find("resp_39", owner: "b") != nil && store.find("resp_0", owner: "b") == nil)
  }

  @Test func a_new_entry_stays_also_if_its_owner_has_the_most() {
    let store = ResponseStore(maximumBytes: 1000, maximumCount: 100)
    for index in 0..<4 { store.add(response("resp_\(index)"), input: [], owner: "\(index)") }
    store.add(response("resp_large", String(repeating: "x", count: 600)), input: [], owner: "large")
    #expect(store.find("resp_large", owner: "large") != nil)
  }

  @Test func sizes_are_those_in_memory() {
    let numbers = JSONValue.array(Array(repeating: .integer(1), count: 1000))
    #expect(numbers.memoryBytes > 5 * numbers.text.utf8.count && numbers.memoryBytes < 40 * numbers.text.utf8.count)
    let store = ResponseStore(maximumBytes: 30 * numbers.text.utf8.count)
    for index in 0..<4 { store.add(response("resp_\(index)"), input: [numbers], owner: "a") }
    #expect(store.find("resp_0", owner: "a") == nil, "four of these texts would fit, four lists do not")
    #expect(store.find("resp_3", owner: "a") != nil)
  }

  @Test func owners_see_and_end_their_own() {
    let store = ResponseStore()
    store.add(response("resp_1"), input: [], owner: "a")
    #expect(store.find("resp_1", owner: "b") == nil && !store.delete("resp_1", owner: "b"))
    #expect(store.delete("resp_1", owner: "a") && !store.delete("resp_1", owner: "a"))
    let lock = NSLock()
    nonisolated(unsafe) var count = 0
    store.begin("resp_2", owner: "a") { lock.withLock { count += 1 } }
    #expect(!store.cancel("resp_2", owner: "b") && store.cancel("resp_2", owner: "a"))
    store.end("resp_2")
    #expect(!store.cancel("resp_2", owner: "a"))
    #expect(lock.withLock { count } == 1)
  }
}
