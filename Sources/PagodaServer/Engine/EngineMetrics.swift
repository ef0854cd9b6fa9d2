// EngineMetrics: an engine's counters in Prometheus' text format, under vLLM's names if the meaning is the same.
import PagodaKit

extension Metrics {
  /// Counters of an engine.
  static func text(_ engine: EngineStatistics) -> String {
    let used = engine.blocks == 0 ? 0 : 1 - Double(engine.freeBlocks) / Double(engine.blocks)
    var out = single("vllm:num_requests_running", "gauge", "Answers being made.", "\(engine.running)")
    out += single("vllm:num_requests_waiting", "gauge", "Waiting answers.", "\(engine.waiting)")
    out += single("vllm:kv_cache_usage_perc", "gauge", "Share of the KV blocks in use, 1 is all.", "\(used)")
    out += single("vllm:num_preemptions_total", "counter", "Preemptions of answers.", "\(engine.preemptions)")
    out += single("pagoda:kv_blocks_free", "gauge", "KV blocks not in use.", "\(engine.freeBlocks)")
    out += single("pagoda:state_slots_free", "gauge", "Recurrent states not in use.", "\(engine.freeStateSlots)")
    // vLLM's histogram of tokens per step, of which the count and the sum are kept.
    let perStep = "vllm:iteration_tokens_total"
    out += "# HELP \(perStep) Tokens per step.\n# TYPE \(perStep) histogram\n"
    out += "\(perStep)_bucket{le=\"+Inf\"} \(engine.steps)\n"
    out += "\(perStep)_sum \(engine.computedTokens)\n\(perStep)_count \(engine.steps)\n"
    out += single("pagoda:engine_steps_total", "counter", "Steps of the engine.", "\(engine.steps)")
    out += single(
      "pagoda:computed_tokens_total", "counter", "Tokens run through the model.", "\(engine.computedTokens)")
    out += single(
      "pagoda:generated_tokens_total", "counter", "Tokens generated, those of unfinished answers too.",
      "\(engine.generatedTokens)")
    out += single("pagoda:engine_failed", "gauge", "1 when the device has failed.", engine.fault == nil ? "0" : "1")
    if let host = engine.hostCache { out += text(host) }
    if let disk = engine.disk { out += text(disk) }
    if let experts = engine.experts { out += text(experts) }
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

  /// Experts in the model's files.
  private static func text(_ experts: ExpertStatistics) -> String {
    let name = "pagoda:expert_"
    var out = single(name + "memory_bytes", "gauge", "Memory for experts.", "\(experts.memoryBytes)")
    let uses = name + "uses_total"
    out += "# HELP \(uses) Experts that steps needed, by where they were.\n# TYPE \(uses) counter\n"
    for (place, count) in [("memory", experts.hits), ("reading", experts.late), ("file", experts.misses)] {
      out += "\(uses){place=\"\(place)\"} \(count)\n"
    }
    out += single(name + "reads_total", "counter", "Experts read from files.", "\(experts.reads)")
    out += single(name + "read_bytes_total", "counter", "Their bytes, as in memory.", "\(experts.readBytes)")
    out += single(name + "wait_seconds_total", "counter", "Time that steps waited for them.", "\(experts.waitSeconds)")
    out += single(name + "guesses_total", "counter", "Guesses at the next layer's experts.", "\(experts.guesses)")
    return out
      + single(name + "right_guesses_total", "counter", "Guesses that it used.", "\(experts.rightGuesses)")
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
      out += "# HELP \(name)paused_info Why not.\n# TYPE \(name)paused_info gauge\n"
      out += "\(name)paused_info{reason=\(quoted(reason))} 1\n"
    }
    out += single(name + "files", "gauge", "Prefix files in the folder.", "\(disk.files)")
    out += single(name + "bytes", "gauge", "Their bytes.", "\(disk.bytes)")
    out += single(name + "max_bytes", "gauge", "Most bytes that they may have.", "\(disk.maximumBytes)")
    out += single(name + "failures_total", "counter", "Writes that failed.", "\(disk.failures)")
    out += single(name + "dropped_total", "counter", "Files not written: the disk was too slow.", "\(disk.dropped)")
    out += single(name + "evictions_total", "counter", "Files removed to make room.", "\(disk.evictions)")
    return out + single(name + "bad_files_total", "counter", "Damaged files removed.", "\(disk.badFiles)")
  }

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
}
