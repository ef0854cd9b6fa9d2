// Advice before a download, the state of the machine during a measurement, and lines that are wrapped between parts.
import Foundation
import PagodaCLI
import PagodaKit
import Testing

@Suite struct AdviceTests {
  private let gib = Int64(1) << 30

  private func plan(_ forms: [DownloadPlan.Form], instead: String? = nil) -> DownloadPlan {
    DownloadPlan(
      missingBytes: 158 * gib, freeDiskBytes: 200 * gib, memoryBytes: 21 * gib, forms: forms, instead: instead)
  }

  @Test func a_model_that_fits_is_said_to_fit() {
    let fits = plan([.init(nil, 9 * gib), .init("8bit", 5 * gib)])
    #expect(
      fits.text == "Download: 158.0 GiB, 200.0 GiB free on the disk.\nMemory: about 9.00 GiB of 21.0 GiB: fits.\n")
  }

  @Test func a_smaller_format_is_named_if_only_that_fits() {
    let smaller = plan([.init(nil, 60 * gib), .init("8bit", 32 * gib), .init("4bit", 18 * gib)])
    #expect(smaller.fitting == .init("4bit", 18 * gib))
    #expect(smaller.text.contains("does not fit. With --quantize 4bit it fits: about 18.0 GiB."))
  }

  @Test func another_model_is_named_if_no_format_fits() {
    let large = plan([.init(nil, 160 * gib), .init("4bit", 45 * gib)], instead: "pagoda chat qwen3.5:9b")
    #expect(large.fitting == nil)
    #expect(large.text.contains("does not fit, not even with --quantize 4bit.\nThis would fit: pagoda chat qwen3.5:9b"))
  }

  /// Who agrees to a form of the question gets that form, not an error after the download.
  @Test func the_question_names_the_format_that_will_be_used() {
    let smaller = plan([.init(nil, 60 * gib), .init("8bit", 32 * gib), .init("4bit", 18 * gib)])
    #expect(smaller.smallerForm == "4bit")
    #expect(smaller.question == ("Fetch it (158.0 GiB) and use --quantize 4bit?", true))
    let fits = plan([.init(nil, 9 * gib)])
    #expect(fits.smallerForm == nil && fits.question == ("Fetch it (158.0 GiB)?", true))
    let never = plan([.init(nil, 160 * gib), .init("4bit", 45 * gib)])
    #expect(never.smallerForm == nil && never.question == ("Fetch it anyway (158.0 GiB)?", false))
    #expect(plan([]).question == ("Fetch it (158.0 GiB)?", true))
  }

  @Test func a_disk_without_room_is_named_with_a_model_that_has_it() {
    var plan = plan([.init(nil, 9 * gib)], instead: "pagoda chat qwen3.5:2b")
    plan.freeDiskBytes = 10 * gib
    #expect(!plan.fitsOnDisk)
    #expect(plan.text.hasPrefix("Download: 158.0 GiB, 10.0 GiB free on the disk: does not fit.\n"))
    #expect(plan.text.hasSuffix("This would fit: pagoda chat qwen3.5:2b\n"))
  }

  @Test func busy_seconds_leave_out_idle_time_and_other_processors() {
    let stat = """
      cpu  900 20 30 1000 500 6 4 40 0 0
      cpu0 100 20 30 1000 500 6 4 40 0 0
      cpu1 100 0 0 1000 500 0 0 0 0 0
      cpu12 700 0 0 0 0 0 0 0 0 0
      intr 5

      """
    #expect(MachineUse.busySeconds(stat: stat, ticksPerSecond: 100, processors: [0]) == 2)
    #expect(MachineUse.busySeconds(stat: stat, ticksPerSecond: 100, processors: [0, 1]) == 3)
    #expect(MachineUse.busySeconds(stat: "intr 5\n", ticksPerSecond: 100, processors: [0]) == nil)
    let status = "Name:\tpagoda\nCpus_allowed:\t10f\nCpus_allowed_list:\t0-3,8\nMems_allowed:\t1\n"
    #expect(MachineUse.usableProcessors(status: status) == [0, 1, 2, 3, 8])
    #expect(MachineUse.usableProcessors(status: "Name:\tpagoda\n").isEmpty)
  }

  @Test func other_programs_are_named_from_a_use_that_matters() {
    func note(_ seconds: Double, wall: Double = 10, of count: Int = 8, from least: Double = 0.25) -> String? {
      OtherUse(processorSeconds: seconds, wallSeconds: wall, processorCount: count).note(from: least)
    }
    #expect(note(10) == "machine busy: other programs used 1.0 of 8 processors", "an eighth of the machine")
    #expect(note(4, of: 1) == "machine busy: other programs used 0.4 of 1 processor")
    #expect(note(2) == nil && note(2, from: 0.1) != nil && note(-1) == nil)
    #expect(note(0.02, wall: 0.1, from: 0.1) == nil, "two ticks of the clock")
    let both = OtherUse(processorSeconds: 3, wallSeconds: 1, processorCount: 4).joined(
      OtherUse(processorSeconds: 1, wallSeconds: 3, processorCount: 4))
    #expect(both.processors == 1 && both.share == 0.25)
  }

  @Test func a_line_of_facts_breaks_between_facts() {
    let parts = ["12 tokens", "146.1 tokens/s", "first after 0.09 s", "175 of 214 prompt tokens cached"]
    #expect(
      joined(parts, width: 40) == "12 tokens · 146.1 tokens/s ·\nfirst after 0.09 s ·\n175 of 214 prompt tokens cached")
    #expect(joined(["one two three four"], width: 12).split(separator: "\n").allSatisfy { $0.count <= 12 })
    #expect(joined(parts, width: nil) == parts.joined(separator: " · "))
  }

  @Test func time_left_is_rounded_up() {
    #expect(duration(0.2) == "1 s" && duration(11.2) == "12 s" && duration(121) == "3 min")
    let read = PromptProgress(completedTokens: 430, totalTokens: 1000, elapsedSeconds: 8.8)
    #expect(progressText(read) == "reading 43 %, 12 s left")
  }

  @Test func a_history_survives_and_is_searched_backwards() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "a/history").path
    var history = LineHistory(path: path)
    for line in ["one fox", "two\nlines", "two\nlines", "", "another FOX"] { history.add(line) }
    let again = LineHistory(path: path)
    #expect(again.lines == ["one fox", "two\nlines", "another FOX"])
    #expect(again.search("fox", before: 3) == 2 && again.search("fox", before: 2) == 0)
    #expect(again.search("bear", before: 3) == nil && again.search("", before: 3) == nil)
  }

  @Test func suggestions_know_swapped_letters() {
    #expect(suggestion(for: "chta", among: ["chat", "serve"]) == "chat")
    #expect(suggestion(for: "srvee", among: ["chat", "serve"]) == "serve")
    #expect(suggestion(for: "abcd", among: ["chat", "serve"]) == nil)
  }
}
