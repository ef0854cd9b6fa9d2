// Metrics of experts that stay in the model's files: present only if there are such experts.
import PagodaKit
import Testing

@testable import PagodaServer

@Suite struct ExpertMetricsTests {
  @Test func uses_reads_and_guesses_are_counted() {
    var engine = EngineStatistics()
    #expect(!Metrics.text(engine).contains("pagoda:expert_"))
    var experts = ExpertStatistics()
    experts.memoryBytes = 1 << 20
    experts.hits = 7
    experts.late = 2
    experts.misses = 3
    experts.reads = 6
    experts.readBytes = 600
    experts.waitSeconds = 0.25
    experts.guesses = 9
    experts.rightGuesses = 4
    engine.experts = experts
    let text = Metrics.text(engine)
    for line in [
      "pagoda:expert_memory_bytes 1048576", "pagoda:expert_uses_total{place=\"memory\"} 7",
      "pagoda:expert_uses_total{place=\"reading\"} 2", "pagoda:expert_uses_total{place=\"file\"} 3",
      "pagoda:expert_reads_total 6", "pagoda:expert_read_bytes_total 600", "pagoda:expert_wait_seconds_total 0.25",
      "pagoda:expert_guesses_total 9", "pagoda:expert_right_guesses_total 4",
    ] {
      #expect(text.contains("\(line)\n"))
    }
  }
}
