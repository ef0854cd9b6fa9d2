// Connection+Reading: receives bytes, frames requests and starts or refuses them. On the event loop's thread.
import Foundation

extension Connection {
  var wantsInput: Bool {
    switch stage {
    case .reading, .lingering: !hasEnded
    case .answering: !hasEnded && input.count - inputStart < Self.readAhead
    case .closed: false
    }
  }

  /// Counted from `waitingSince`, which for the first head is the time of connecting, not that of its first byte.
  var patienceForRequest: Double {
    let limits = context.limits
    switch framing.phase {
    case .idle: return framing.requests == 0 ? limits.headerSeconds : limits.idleSeconds
    case .head, .refused: return limits.headerSeconds
    case .body:
      return min(limits.mostBodySeconds, limits.bodySeconds + Double(framing.bodyBytes) / Double(limits.bodyRate))
    }
  }

  func receive(_ now: Double, _ scratch: UnsafeMutableRawBufferPointer) {
    switch channel.receive(into: scratch) {
    case .notNow: break
    case .bytes(let count):
      if stage != .lingering {
        input += scratch[..<count]
        break
      }
      lingerBytes += count
      if lingerBytes >= context.limits.mostBodyBytes { close() }
    case .ended:
      hasEnded = true
      leftSince = leftSince ?? now
      if stage == .lingering { close() }
    }
  }

  /// The rest of a record, which the socket does not report.
  func receivePending(_ now: Double) {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { scratch in
      while channel.hasPending && wantsInput { receive(now, scratch) }
    }
  }

  /// Returns false if more bytes are needed.
  func readRequest(_ now: Double) -> Bool {
    guard flush(now) else { return false }
    let before = (framing.phase, framing.requests)
    defer {
      if framing.requests > 0 && before != (framing.phase, framing.requests) {
        waitingSince = now
        progress = (now, 0)
      }
    }
    do {
      while stage == .reading {
        let found = try input.withUnsafeBytes { try framing.next($0, from: &inputStart) }
        switch found {
        case .head(let head): begin(head)
        case .body(let range): receiveBody(input[range], now)
        case .end: start()
        case nil:
          input.removeAll(keepingCapacity: true)
          inputStart = 0
          if !hasEnded {
            _ = flush(now)  // so that the client continues
            return false
          }
          if framing.phase == .idle { close() } else { refuse(.incomplete) }
        }
      }
    } catch {
      refuse(error as? FramingError ?? .malformed("\(error)"))
    }
    if inputStart == input.count {
      input.removeAll(keepingCapacity: true)
      inputStart = 0
    } else if inputStart > Self.readAhead {
      input.removeFirst(inputStart)
      inputStart = 0
    }
    return true
  }

  /// The event loop bounds the bytes of all bodies, at the expense of incomplete ones. Complete ones may
  /// exceed the bound by one read.
  private func receiveBody(_ bytes: ArraySlice<UInt8>, _ now: Double) {
    guard let exchange else { return }
    exchange.receive(bytes)
    if framing.bodyBytes - progress.bytes >= context.limits.bodyRate { progress = (now, framing.bodyBytes) }
    let kept = exchange.request.body.count
    context.load.add(bodyBytes: kept - bodyBytes)
    bodyBytes = kept
    if context.load.bodyBytes > context.limits.allBodyBytes + Self.readAhead { refuse(.bodies) }
  }

  private func begin(_ head: RequestHead) {
    let request = HTTPRequest(
      method: head.method, path: head.path, headers: head.headers, address: address, query: head.query)
    rules = AnswerRules(isHead: head.method == "HEAD", isVersion11: head.isVersion11, keepsAlive: head.keepsAlive)
    if isExtra && !context.limits.firstPaths.contains(request.path) {
      refuse(make(request, .respond(.empty)), context.service.refusal(of: request, .connections))
      return
    }
    let exchange = make(request, context.service.action(for: request))
    if case .work = exchange.action {
      let client = context.service.address(of: request)
      if context.addresses.isBusy(client) { return refuse(.requests) }
      context.addresses.add(client, requests: 1)
      countedFor = client
    }
    switch exchange.action {
    case .refuse(let response): refuse(exchange, response)
    case .respond(let response):
      // A client that sends Expect: 100-continue is spared the body if it is refused.
      if head.expectsContinue && awaitsBody { refuse(exchange, response) }
    case .work: if head.expectsContinue && awaitsBody { output.bytes += ResponseWriter.continues }
    }
  }

  private var awaitsBody: Bool { !framing.isWhole && inputStart == input.count }

  private func make(_ request: HTTPRequest, _ action: HTTPAction) -> Exchange {
    let exchange = Exchange(
      request, action: action, maximumBody: context.limits.bodyBytes, trace: context.service.trace(of: request))
    self.exchange = exchange
    context.load.add(exchanges: 1)
    return exchange
  }

  /// The request is invalid: answers it with the error, however much of it has arrived.
  func refuse(_ error: FramingError) {
    if exchange == nil {
      let head = framing.head
      rules = AnswerRules(isHead: head.method == "HEAD", isVersion11: head.isVersion11, keepsAlive: false)
      _ = make(
        HTTPRequest(method: head.method, path: head.path, headers: head.headers, address: address), .respond(.empty))
    }
    guard let exchange else { return }
    refuse(exchange, context.service.refusal(of: exchange.head, error))
  }

  /// Answers without reading further.
  private func refuse(_ exchange: Exchange, _ response: HTTPResponse) {
    framing.refuse()
    exchange.reply(.whole(response.closing()))
    stage = .answering
  }

  /// The request is complete.
  private func start() {
    guard let exchange else { return }
    stage = .answering
    if exchange.isBodyTooLarge { return exchange.reply(.whole(context.service.bodyTooLarge(exchange.head))) }
    switch exchange.action {
    case .respond(let response), .refuse(let response): exchange.reply(.whole(response))
    case .work(let work):
      exchange.attach(wake)
      context.run(exchange) { work(exchange) }
    }
  }

  var wake: @Sendable () -> Void {
    { [weak self, mailbox = context.mailbox] in if let self { mailbox.post(self) } }
  }
}
