// Metrics: counts and times in Prometheus' text format, under vLLM's names if the meaning is the same.
import Foundation
import PagodaKit

final class Metrics: @unchecked Sendable {
  private struct Histogram {
    let bounds: [Double]
    var counts: [Int]
    var sum = 0.0

    init(_ bounds: [Double]) {
      self.bounds = bounds
      counts = Array(repeating: 0, count: bounds.count + 1)
    }

    mutating func add(_ value: Double) {
      counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
      sum += value
    }

    func text(_ name: String, _ help: String) -> String {
      var lines = "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
      var total = 0
      for (bound, count) in zip(bounds.map { String($0) } + ["+Inf"], counts) {
        total += count
        lines += "\(name)_bucket{le=\"\(bound)\"} \(total)\n"
      }
      return lines + "\(name)_sum \(sum)\n\(name)_count \(total)\n"
    }
  }

  var droppedLogLines: (@Sendable () -> Int)?  // set before the server starts
  private let lock = NSLock()
  private var finished: [String: Int] = ["stop": 0, "length": 0, "abort": 0, "error": 0]
  private var responses: [Int: Int] = [:]
  private var promptTokens = 0
  private var cachedTokens = 0
  private var generatedTokens = 0
  private var firstToken = Histogram([0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120])
  private var perToken = Histogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5])
  private var whole = Histogram([0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600])
  private var queue = Histogram([0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60])

  private var prefillRates: [Double] = []  // tokens per second of the last representative prompts

  /// The speed of undelayed prompt processing: the best of the last prompts, in tokens per second.
  var prefillRate: Double? { lock.withLock { prefillRates.max() } }

  func answered(status: Int) { lock.withLock { responses[status, default: 0] += 1 } }

  func ended(_ completion: Completion?) {
    lock.withLock {
      guard let completion else {
        finished["error", default: 0] += 1
        return
      }
      let reason = completion.finishReason == .cancelled ? "abort" : completion.finishReason.rawValue
      finished[reason, default: 0] += 1
      let (usage, timings) = (completion.usage, completion.timings)
      promptTokens += usage.promptTokens
      cachedTokens += usage.cachedTokens
      generatedTokens += usage.completionTokens
      guard usage.completionTokens > 0 else { return }
      let computed = usage.promptTokens - usage.cachedTokens
      if computed >= 64, timings.promptMilliseconds > 0 {
        prefillRates = prefillRates.suffix(15) + [Double(computed) / timings.promptMilliseconds * 1000]
      }
      queue.add(timings.queueMilliseconds / 1000)
      firstToken.add((timings.queueMilliseconds + timings.promptMilliseconds) / 1000)
      if usage.completionTokens > 1 {
        perToken.add(timings.generationMilliseconds / 1000 / Double(usage.completionTokens - 1))
      }
      whole.add(
        (timings.queueMilliseconds + timings.promptMilliseconds + timings.generationMilliseconds) / 1000)
    }
  }

  private static func single(_ name: String, _ type: String, _ help: String, _ value: String) -> String {
    "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n\(name) \(value)\n"
  }

  /// Counters of an engine.
  static func text(_ engine: EngineStatistics) -> String {
    let used = engine.blocks == 0 ? 0 : 1 - Double(engine.freeBlocks) / Double(engine.blocks)
    var out = single("vllm:num_requests_running", "gauge", "Answers being made.", "\(engine.running)")
    out += single("vllm:num_requests_waiting", "gauge", "Waiting answers.", "\(engine.waiting)")
    out += single("vllm:kv_cache_usage_perc", "gauge", "Share of the KV blocks in use, 1 is all.", "\(used)")
    out += single("vllm:num_preemptions_total", "counter", "Preemptions of answers.", "\(engine.preemptions)")
    out += single("pagoda:kv_blocks_free", "gauge", "KV blocks not in use.", "\(engine.freeBlocks)")
    out += single("pagoda:state_slots_free", "gauge", "Recurrent states not in use.", "\(engine.freeStateSlots)")
    out += single("pagoda:engine_steps_total", "counter", "Steps of the engine.", "\(engine.steps)")
    out += single(
      "pagoda:computed_tokens_total", "counter", "Tokens run through the model.", "\(engine.computedTokens)")
    out += single(
      "pagoda:generated_tokens_total", "counter", "Tokens generated, those of unfinished answers too.",
      "\(engine.generatedTokens)")
    out += single("pagoda:engine_failed", "gauge", "1 when the device has failed.", engine.fault == nil ? "0" : "1")
    if let host = engine.hostCache { out += text(host) }
    if let disk = engine.disk { out += text(disk) }
    let drafts = engine.speculation
    out += single(
      "vllm:spec_decode_num_drafts_total", "counter", "Steps of a sequence with drafts.", "\(drafts.draftSteps)")
    out += single(
      "vllm:spec_decode_num_draft_tokens_total", "counter", "Tokens drafted.", "\(drafts.draftedTokens)")
    out += single(
      "vllm:spec_decode_num_accepted_tokens_total", "counter", "Drafts that were accepted.", "\(drafts.acceptedTokens)")
    let perPosition = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
    out += "# HELP \(perPosition) Accepted drafts by position.\n# TYPE \(perPosition) counter\n"
    for (position, count) in drafts.acceptedByPosition.enumerated() {
      out += "\(perPosition){position=\"\(position)\"} \(count)\n"
    }
    out += single(
      "pagoda:spec_decode_saved_seconds", "gauge", "Time saved by speculation, negative when lost.",
      "\(drafts.savedMilliseconds / 1000)")
    return out + cacheText(engine)
  }

  /// Counters of the server, over all of its models.
  func text(connections: Int) -> String {
    var out = Self.single("pagoda:http_connections", "gauge", "Open connections.", "\(connections)")
    if let droppedLogLines {
      out += Self.single(
        "pagoda:log_lines_dropped_total", "counter", "Log lines dropped because the reader was too slow.",
        "\(droppedLogLines())"
      )
    }
    return out
      + lock.withLock {
        var out = Self.single("vllm:prompt_tokens_total", "counter", "Tokens of prompts.", "\(promptTokens)")
        out += Self.single(
          "vllm:prefix_cache_hits_total", "counter", "Prompt tokens found in the cache.", "\(cachedTokens)")
        out += Self.single("vllm:prefix_cache_queries_total", "counter", "Prompt tokens looked up.", "\(promptTokens)")
        out += Self.single("vllm:generation_tokens_total", "counter", "Tokens generated.", "\(generatedTokens)")
        out +=
          "# HELP vllm:request_success_total Answers by how they ended.\n# TYPE vllm:request_success_total counter\n"
        for (reason, count) in finished.sorted(by: { $0.key < $1.key }) {
          out += "vllm:request_success_total{finished_reason=\"\(reason)\"} \(count)\n"
        }
        out += "# HELP pagoda:http_responses_total Responses by status.\n# TYPE pagoda:http_responses_total counter\n"
        for (status, count) in responses.sorted(by: { $0.key < $1.key }) {
          out += "pagoda:http_responses_total{status=\"\(status)\"} \(count)\n"
        }
        out += firstToken.text("vllm:time_to_first_token_seconds", "From submission to the first token.")
        out += perToken.text("vllm:time_per_output_token_seconds", "Between tokens, a mean for each answer.")
        out += queue.text("vllm:request_queue_time_seconds", "From submission to the first step.")
        return out + whole.text("vllm:e2e_request_latency_seconds", "From submission to the last token.")
      }
  }

  /// Prefixes in the host's memory.
  private static func text(_ host: HostCacheStatistics) -> String {
    let name = "pagoda:prefix_host_"
    var out = single(name + "prefixes", "gauge", "Prefixes in host memory.", "\(host.prefixes)")
    out += single(name + "bytes", "gauge", "Their bytes.", "\(host.bytes)")
    out += single(name + "max_bytes", "gauge", "Most bytes that they may have.", "\(host.maximumBytes)")
    out += single(name + "hits_total", "counter", "Prefixes read back into the caches.", "\(host.hits)")
    out += single(name + "writes_total", "counter", "Prefixes copied out of the caches.", "\(host.writes)")
    out += single(name + "dropped_total", "counter", "Prefixes larger than the limit.", "\(host.dropped)")
    return out + single(name + "evictions_total", "counter", "Prefixes evicted from host memory.", "\(host.evictions)")
  }

  /// Prefixes on disk; the reason why none are written is a label.
  private static func text(_ disk: DiskCacheStatistics) -> String {
    let name = "pagoda:prefix_disk_"
    var out = Self.single(
      name + "writing", "gauge", "1 while prefixes are written to disk.", disk.offReason == nil ? "1" : "0")
    if let reason = disk.offReason {
      let label = reason.reduce(into: "") { text, character in
        if character == "\\" || character == "\"" { text.append("\\") }
        text.append(character.isNewline ? " " : character)
      }
      out += "# HELP \(name)paused_info Why not.\n# TYPE \(name)paused_info gauge\n"
      out += "\(name)paused_info{reason=\"\(label)\"} 1\n"
    }
    out += single(name + "files", "gauge", "Prefix files in the folder.", "\(disk.files)")
    out += single(name + "bytes", "gauge", "Their bytes.", "\(disk.bytes)")
    out += single(name + "max_bytes", "gauge", "Most bytes that they may have.", "\(disk.maximumBytes)")
    out += single(name + "failures_total", "counter", "Writes that failed.", "\(disk.failures)")
    out += single(name + "dropped_total", "counter", "Files not written: the disk was too slow.", "\(disk.dropped)")
    out += single(name + "evictions_total", "counter", "Files removed to make room.", "\(disk.evictions)")
    return out + single(name + "bad_files_total", "counter", "Damaged files removed.", "\(disk.badFiles)")
  }
}

extension Metrics {
  /// Counters of the caches, and the time of steps by phase.
  private static func cacheText(_ engine: EngineStatistics) -> String {
    let cache = engine.prefixCache
    let counters: [(String, String, Int64)] = [
      ("block_evictions", "Cached KV blocks evicted.", cache.blockEvictions),
      ("checkpoint_hits", "Requests that resumed from a saved recurrent state.", cache.checkpointHits),
      ("checkpoint_evictions", "Recurrent states evicted.", cache.checkpointEvictions),
      ("recomputed_tokens", "Tokens computed again after a preemption.", cache.recomputedTokens),
      ("grammar_masks", "Masks of the tokens that grammars allow.", engine.masks),
      ("grammar_late_masks", "Tokens that waited for their mask.", engine.lateMasks),
      ("prefix_disk_reads", "Prefix files read.", engine.disk?.reads ?? 0),
      ("prefix_disk_writes", "Prefix files written.", engine.disk?.writes ?? 0),
    ]
    var out = ""
    for (name, help, value) in counters {
      out += "# HELP pagoda:\(name)_total \(help)\n# TYPE pagoda:\(name)_total counter\npagoda:\(name)_total \(value)\n"
    }
    out += "# HELP pagoda:step_seconds_total Time of all steps by phase.\n# TYPE pagoda:step_seconds_total counter\n"
    let phases = [
      ("plan", engine.planSeconds), ("forward", engine.forwardSeconds), ("sample", engine.sampleSeconds),
      ("mask", engine.maskSeconds),
    ]
    for (phase, seconds) in phases { out += "pagoda:step_seconds_total{phase=\"\(phase)\"} \(seconds)\n" }
    return out
  }

  /// The texts of several engines as one, distinguished by the label `model_name`.
  static func labelled(_ texts: [(name: String, text: String)]) -> String {
    var order: [String] = []
    var families: [String: (head: String, samples: String)] = [:]
    for (name, text) in texts {
      let label = "model_name=\"\(name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
      var family = ""
      for line in text.split(separator: "\n") {
        if line.hasPrefix("# HELP ") { family = String(line.dropFirst(7).prefix { $0 != " " }) }
        if families[family] == nil {
          order.append(family)
          families[family] = ("", "")
        }
        if line.hasPrefix("#") {
          if families[family]?.samples.isEmpty ?? false { families[family]?.head += line + "\n" }
        } else if let brace = line.firstIndex(of: "{") {
          families[family]?.samples += "\(line[..<brace]){\(label),\(line[line.index(after: brace)...])\n"
        } else {
          let space = line.firstIndex(of: " ") ?? line.endIndex
          families[family]?.samples += "\(line[..<space]){\(label)}\(line[space...])\n"
        }
      }
    }
    return order.map { (families[$0]?.head ?? "") + (families[$0]?.samples ?? "") }.joined()
  }
}
