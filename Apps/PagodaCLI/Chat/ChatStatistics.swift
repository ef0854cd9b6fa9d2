// The statistics that /stats shows.
import Foundation
import PagodaKit

func statistics(_ session: ChatSession) -> String {
  var rows: [(String, String)] = []
  if let last = session.lastCompletion {
    rows.append(("prompt", "\(last.usage.promptTokens) tokens, \(reuse(last.usage))"))
    rows.append(("answer", "\(last.usage.completionTokens) tokens (\(last.finishReason.rawValue))"))
    rows.append(("time to first token", String(format: "%.0f ms", last.timings.promptMilliseconds)))
    rows.append(("speed", last.tokensPerSecond.map { String(format: "%.1f tokens/s", $0) } ?? "-"))
    let (drafted, accepted) = (last.timings.draftedTokens, last.timings.acceptedTokens)
    rows.append(("drafted", "\(drafted) tokens, \(accepted) accepted"))
  }
  let engine = session.engine.statistics
  rows.append(("KV blocks in use", "\(engine.blocks - engine.freeBlocks) of \(engine.blocks)"))
  let cache = engine.prefixCache
  rows.append(("prefixes kept", "\(cache.cachedBlocks) blocks, \(states(cache))"))
  rows.append(("prefixes found", "\(cache.hits) of \(cache.lookups) times, \(cache.cachedTokens) tokens"))
  let drafts = engine.speculation
  rows.append(
    ("drafted so far", "\(drafts.draftedTokens) tokens, \(drafts.acceptedTokens) accepted, \(saved(drafts))"))
  if let host = engine.hostCache { rows.append(("prefixes in host memory", describe(host))) }
  if let disk = engine.disk { rows.append(("prefixes on disk", describe(disk))) }
  rows.append(("messages", String(session.history.count)))
  return columns(rows.map { ("  " + $0.0, $0.1) }, width: Style.textWidth)
}

/// How much of a prompt was cached, and where it diverged from the cache.
package func reuse(_ usage: Usage) -> String {
  let cached = "\(usage.cachedTokens) of them cached"
  let diverged = usage.matchedTokens > usage.cachedTokens && usage.matchedTokens < usage.promptTokens
  return diverged ? cached + "; diverged from the cache at token \(usage.matchedTokens)" : cached
}

private func saved(_ drafts: SpeculationStatistics) -> String {
  String(format: "%.1f s %@", abs(drafts.savedMilliseconds) / 1000, drafts.savedMilliseconds < 0 ? "lost" : "saved")
}

private func states(_ cache: PrefixCacheStatistics) -> String {
  "\(cache.checkpoints) of \(cache.maximumCheckpoints) states (\(readable(bytes: cache.checkpointBytes)))"
}

private func describe(_ host: HostCacheStatistics) -> String {
  let size = "\(host.prefixes), \(readable(bytes: host.bytes)) of \(readable(bytes: host.maximumBytes))"
  return "\(size), \(host.hits) read, \(host.writes) written"
}

private func describe(_ disk: DiskCacheStatistics) -> String {
  let size = "\(disk.files) files, \(readable(bytes: disk.bytes)) of \(readable(bytes: disk.maximumBytes))"
  return "\(size), \(disk.reads) read, \(disk.writes) written" + (disk.offReason.map { "; off: \($0)" } ?? "")
}
