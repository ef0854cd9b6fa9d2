// pagoda bench agents: what its report says about silent answers, unserved agents and a load that was cut.
import Foundation
import PagodaCLI
import PagodaKit
import Testing

@Suite struct AgentBenchTests {
  private func load(agents: Int, turns: Int) throws -> AgentLoad {
    var load = try AgentLoad(Arguments())
    (load.agents, load.turns, load.forks) = (agents, turns, 0)
    return load
  }

  private func turn(_ agent: Int, _ turn: Int, begin: Double, end: Double, firstToken: Double?) -> AgentTurn {
    var result = AgentTurn()
    (result.agent, result.turn, result.begin, result.end, result.firstToken) = (agent, turn, begin, end, firstToken)
    return result
  }

  /// An answer of thoughts that are not sent, or an empty one, has no first token: not one after 0 ms.
  @Test func an_answer_without_visible_text_has_no_first_token() throws {
    let silent = [turn(0, 0, begin: 0, end: 1, firstToken: nil), turn(1, 0, begin: 0, end: 1, firstToken: nil)]
    let report = AgentReport(turns: silent, seconds: 1, load: try load(agents: 2, turns: 1))
    let row = try #require(report.json["by_turn"]?.arrayValue?.first)
    #expect(row["median_ttft_ms"] == .null && row["p95_ttft_ms"] == .null && row["worst_ttft_ms"] == .null)
    let line = try #require(report.table().split(separator: "\n").first { $0.hasPrefix("   1 ") })
    #expect(line.split(separator: " ").map(String.init) == ["1", "2", "-", "-", "-", "0", "0.0"])
    let mixed = silent + [turn(2, 0, begin: 0, end: 1, firstToken: 0.25)]
    let other = AgentReport(turns: mixed, seconds: 1, load: try load(agents: 3, turns: 1))
    #expect(other.json["by_turn"]?.arrayValue?.first?["median_ttft_ms"] == .number(250))
  }

  @Test func the_table_has_the_median_and_the_95th_percentile_of_each_turn() throws {
    let turns = (0..<100).map { turn($0, 0, begin: 0, end: 1, firstToken: Double($0 + 1)) }
    let report = AgentReport(turns: turns, seconds: 1, load: try load(agents: 100, turns: 1))
    let row = try #require(report.json["by_turn"]?.arrayValue?.first)
    #expect(row["median_ttft_ms"] == .number(51_000) && row["p95_ttft_ms"] == .number(96_000))
    #expect(report.table().contains("p95 (ms)") && report.json["interrupted"] == nil)
  }

  @Test func the_table_fits_a_narrow_terminal() throws {
    let turns = (0..<4).map { turn($0, 0, begin: 0, end: 1, firstToken: 12) }
    let report = AgentReport(turns: turns, seconds: 1, load: try load(agents: 4, turns: 1))
    for width in [30, 40, 60, 80] {
      let lines = report.table(width: width).split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
    }
    #expect(report.table(width: 80) == report.table() && report.table(width: 40).contains("12000.0 ms"))
  }

  /// One agent has had two turns in 10 s, one has had one, and two have waited in vain.
  @Test func agents_without_a_turn_count_in_a_load_that_was_cut() throws {
    let turns = [
      turn(0, 0, begin: 0, end: 1, firstToken: 0.5), turn(0, 1, begin: 1, end: 1, firstToken: 0.5),
      turn(1, 0, begin: 0, end: 2, firstToken: 0.5),
    ]
    let report = AgentReport(turns: turns, seconds: 10, load: try load(agents: 4, turns: 5), isCut: true)
    #expect(report.rates == [0, 0, 6, 12])
    #expect(abs(report.fairness - 18.0 * 18 / (4 * (36 + 144))) < 1e-9)
    #expect(report.json["interrupted"] == .bool(true) && report.table().contains("interrupted after 3 of 20 turns"))
  }

  @Test func a_load_ends_once() async {
    let end = LoadEnd()
    #expect(!end.isReached && end.reach() && !end.reach(isEarly: false) && end.isReached && end.isEarly)
    await end.wait()
    let done = LoadEnd()
    async let waiting: Void = done.wait()
    done.reach(isEarly: false)
    await waiting
    #expect(done.isReached && !done.isEarly)
  }
}
