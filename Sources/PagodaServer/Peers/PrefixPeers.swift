// PrefixPeers: fetches the prefix of a prompt from another server if that is faster than computing it.
import Foundation
import PagodaKit

final class PrefixPeers: @unchecked Sendable {
  /// Peers are asked if this many tokens of a prompt would have to be computed.
  static let minimumTokens = 256
  /// Maximum seconds of a transfer, also if neither side has measured its speed yet.
  static let maximumSeconds = 30.0
  /// Maximum concurrent fetches; other requests compute their prefixes.
  static let maximumFetches = 4

  private let engine: Engine
  private let metrics: ModelMetrics
  private let peers: [PrefixPeer]
  private let folder: String
  private let share: Double  // see PrefixSharing.maximumShare
  private let incoming: String
  private let queue = DispatchQueue(label: "pagoda.prefix-peers", attributes: .concurrent)
  private let condition = NSCondition()
  // Guarded by `condition`.
  private var fetches = 0
  private var names: Set<String> = []  // of files being fetched
  private var counts = Counts()

  struct Counts {
    var files = 0
    var bytes = 0
    var seconds = 0.0
    var failures = 0
    var declined = 0  // a peer had more, but the transfer would have taken too long
  }

  init(_ peers: [PrefixPeer], engine: Engine, metrics: ModelMetrics, sharing: PrefixSharing) {
    self.peers = peers
    self.engine = engine
    self.metrics = metrics
    folder = sharing.folder
    share = sharing.maximumShare
    incoming = folder + "/incoming"
    removePartialFiles()
  }

  var statistics: Counts { condition.withLock { counts } }

  /// Calls `then`, on any thread, when the worthwhile files have been fetched; false if there is nothing to wait for.
  func fetch(
    _ tokens: [Int32], cacheSalt: String, trace: TraceContext?, then: @escaping @Sendable () -> Void
  ) -> Bool {
    guard peers.contains(where: { !$0.isSuspended }),
      tokens.count - reach(tokens, cacheSalt) >= Self.minimumTokens
    else { return false }
    let isFull = condition.withLock {
      if fetches == Self.maximumFetches { return true }
      fetches += 1
      return false
    }
    if isFull { return false }
    queue.async { [self] in
      fetch(tokens, cacheSalt, trace?.requestHeaders ?? [:])
      condition.withLock { fetches -= 1 }
      then()
    }
    return true
  }

  /// Tokens that need not be computed: from memory, or from this server's own files.
  private func reach(_ tokens: [Int32], _ salt: String) -> Int {
    let cached = (try? engine.findPrefix(of: tokens, cacheSalt: salt))?.cachedTokens ?? 0
    let files = (try? engine.prefixFiles(of: tokens, cacheSalt: salt)) ?? []
    return max(cached, files.last { $0.position < tokens.count }?.position ?? 0)
  }

  private func fetch(_ tokens: [Int32], _ salt: String, _ headers: [String: String]) {
    let begin = monotonicSeconds()
    let cached = reach(tokens, salt)
    let end = begin + allowed(tokens.count - cached, nil)
    guard let (peer, answer) = ask(tokens, salt, headers, before: end) else { return }
    let files = answer.files.filter { $0.position < tokens.count }
    guard let last = files.last, last.position - cached >= Self.minimumTokens else { return }
    let allowed = allowed(last.position - cached, answer.prefillRate)
    let missing = files.filter { access("\(folder)/\($0.name)", F_OK) != 0 }
    let bytes = missing.reduce(0) { $0 + $1.byteCount }
    if let rate = peer.bytesPerSecond, Double(bytes) / rate > allowed {
      return condition.withLock { counts.declined += 1 }
    }
    for file in missing {
      // If one fails, the files before it are still useful.
      guard take(file, from: peer, headers, before: begin + allowed) else { break }
    }
    condition.withLock { counts.seconds += monotonicSeconds() - begin }
  }

  /// Seconds that may be spent to avoid computing that many tokens.
  private func allowed(_ tokens: Int, _ rateOfPeer: Double?) -> Double {
    guard let rate = metrics.prefillRate ?? rateOfPeer, rate > 0 else { return Self.maximumSeconds }
    return min(Self.maximumSeconds, share * Double(tokens) / rate)
  }

  /// Asks all peers concurrently; returns the one with the longest match.
  private func ask(
    _ tokens: [Int32], _ salt: String, _ headers: [String: String], before deadline: Double
  ) -> (PrefixPeer, PrefixPeer.Answer)? {
    let asked = peers.filter { !$0.isSuspended }
    let lock = NSLock()
    nonisolated(unsafe) var best: (PrefixPeer, PrefixPeer.Answer)?
    DispatchQueue.concurrentPerform(iterations: asked.count) { index in
      do {
        let answer = try asked[index].files(for: tokens, cacheSalt: salt, headers, before: deadline)
        lock.withLock {
          if answer.files.last?.position ?? 0 > best?.1.files.last?.position ?? 0 { best = (asked[index], answer) }
        }
      } catch {
        condition.withLock { counts.failures += 1 }
      }
    }
    return best
  }

  /// Fetches one file, or waits for another request that is fetching it.
  private func take(
    _ file: PrefixPeer.File, from peer: PrefixPeer, _ headers: [String: String], before deadline: Double
  ) -> Bool {
    condition.lock()
    while names.contains(file.name) {
      guard condition.wait(until: Date(timeIntervalSinceNow: deadline - monotonicSeconds())) else {
        condition.unlock()
        return false
      }
    }
    names.insert(file.name)
    condition.unlock()
    defer {
      condition.withLock {
        names.remove(file.name)
        condition.broadcast()
      }
    }
    if access("\(folder)/\(file.name)", F_OK) == 0 { return true }
    let path = "\(incoming)/\(randomID(""))"
    do {
      try peer.fetch(file, to: path, headers, before: deadline)
      try engine.addPrefixFile(at: path, as: file.name)
      condition.withLock {
        counts.files += 1
        counts.bytes += file.byteCount
      }
      return true
    } catch {
      unlink(path)
      condition.withLock { counts.failures += 1 }
      return false
    }
  }

  /// Removes partial files of servers that were killed while receiving.
  private func removePartialFiles() {
    let files = FileManager.default
    try? files.createDirectory(
      atPath: incoming, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in (try? files.contentsOfDirectory(atPath: incoming)) ?? [] {
      let path = "\(incoming)/\(name)"
      let date = (try? files.attributesOfItem(atPath: path))?[.modificationDate] as? Date
      if let date, -date.timeIntervalSinceNow > 60 * Self.maximumSeconds { unlink(path) }
    }
  }
}

extension PrefixPeers.Counts {
  /// The counters in Prometheus' text format.
  var text: String {
    func single(_ name: String, _ help: String, _ value: String) -> String {
      "# HELP pagoda:prefix_peer_\(name) \(help)\n# TYPE pagoda:prefix_peer_\(name) counter\npagoda:prefix_peer_\(name) \(value)\n"
    }
    return single("files_total", "Prefix files fetched from peers.", "\(files)")
      + single("bytes_total", "Bytes of them.", "\(bytes)")
      + single("seconds_total", "Time spent on fetching.", "\(seconds)")
      + single("failures_total", "Exchanges with peers that failed.", "\(failures)")
      + single("declined_total", "Prefixes of peers that were computed because that was faster.", "\(declined)")
  }
}
