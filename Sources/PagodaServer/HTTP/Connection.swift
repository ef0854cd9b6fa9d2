// Connection: one client. Reads a request, has it answered, writes the answer, and begins again; in that order, so that
// requests sent ahead are answered in turn. Of the event loop's thread.
import Foundation

/// What connections share.
struct ConnectionContext: Sendable {
  var service: any HTTPService
  var limits: HTTPLimits
  var mailbox: Mailbox
  var load: ConnectionLoad
  var addresses: AddressLimits
  /// Runs work on another thread.
  var run: @Sendable (@escaping @Sendable () -> Void) -> Void
}

final class Connection: @unchecked Sendable {
  enum Stage {
    case reading  // a request, or nothing between two of them
    case answering
    case lingering  // everything has been said; what the client still sends is thrown away
    case closed
  }

  /// Bytes of later requests that are read while one is answered.
  private static let readAhead = 64 << 10
  /// Bytes that an idle connection may keep for its next request.
  private static let keptCapacity = 4 << 10
  /// Parts of a stream written in one go, before others get their turn.
  private static let turns = 16
  /// From when a client has closed its side until its request is given up.
  private static let patience = 0.1

  let socket: Int32
  let address: String
  let isExtra: Bool  // there is no room for it: only what is answered first is answered
  var isPosted = false  // of the mailbox

  private let context: ConnectionContext
  private(set) var stage = Stage.reading
  private var framing: RequestFraming
  private var input: [UInt8] = []
  private var inputStart = 0  // of what has not been framed
  private var output = SendBuffer()

  private var exchange: Exchange?
  private var rules = AnswerRules()
  private var stream: (body: StreamBody, framing: BodyFraming)?
  private var isQueued = false  // the whole answer is in `output`, or was
  private var isStopping = false
  private var bodyBytes = 0  // of the request, counted with those of all others
  private var isCounted = false  // the request, with those of its address

  private var hasEnded = false  // the client has closed its side, and all before that has been read
  private var leftSince: Double?  // it has closed its side
  private var hasLeft = false  // and its request has been given up
  private var waitingSince: Double  // for a request, or for the rest of its head or body
  private var lastSent: Double
  private var lastReceived: Double
  private var lingerEnd = 0.0
  private var lingerBytes = 0

  init(socket: Int32, address: String, isExtra: Bool = false, _ context: ConnectionContext, now: Double) {
    self.socket = socket
    self.address = address
    self.isExtra = isExtra
    self.context = context
    framing = RequestFraming(
      maximumHead: context.limits.headerBytes, maximumBody: context.limits.mostBodyBytes)
    (waitingSince, lastSent, lastReceived) = (now, now, now)
  }

  // MARK: What the event loop asks and tells

  /// What to wait for.
  var interest: Interest {
    var interest: Interest = []
    if wantsInput { interest.insert(.read) }
    if !output.isEmpty { interest.insert(.write) }
    if stage == .answering && leftSince == nil { interest.insert(.hangUp) }
    return interest
  }

  /// When `expire` is to be called if nothing happens before; it may be called too early.
  var deadline: Double {
    switch stage {
    case .reading: return waitingSince + patienceForRequest
    case .answering:
      var time = Double.infinity
      if let leftSince, !hasLeft { time = leftSince + Self.patience }
      if !output.isEmpty { time = min(time, lastSent + context.limits.idleSeconds) }
      if let stream, output.isEmpty {
        time = min(time, (stream.body.silentSince ?? .infinity) + context.limits.keepAliveSeconds)
      }
      return time
    case .lingering: return lingerEnd
    case .closed: return .infinity
    }
  }

  /// The socket is ready for something.
  func handle(_ ready: Readiness, now: Double, scratch: UnsafeMutableRawBufferPointer) {
    if ready.isBroken && !wantsInput { return close() }
    if (ready.canRead || ready.isBroken) && wantsInput { receive(now, scratch) }
    if ready.peerHasEnded { leftSince = leftSince ?? now }
    advance(now)
  }

  /// Does what can be done without waiting.
  func advance(_ now: Double) {
    for _ in 0..<Self.turns {
      switch stage {
      case .reading: if !readRequest(now) { return }
      case .answering: if !writeAnswer(now) { return }
      case .lingering, .closed: return
      }
    }
    context.mailbox.post(self)
  }

  /// A deadline may have passed.
  func expire(_ now: Double) {
    if now < deadline { return }
    switch stage {
    case .reading:
      // Idle clients are disconnected without an error response.
      if framing.phase == .idle { return close() }
      refuse(.timeout)
    case .answering:
      if !output.isEmpty && now >= lastSent + context.limits.idleSeconds { return close() }
      if let leftSince, !hasLeft, now >= leftSince + Self.patience { return leave(now) }
      stream?.body.push(.keepAlive)
    case .lingering: return close()
    case .closed: return
    }
    advance(now)
  }

  /// The server stops: ends a stream with an error event, answers anything else with `response`, and then no more.
  func stop(with response: HTTPResponse, now: Double) {
    isStopping = true
    switch stage {
    case .reading:
      guard let exchange else { return linger(now) }
      framing.refuse()
      stage = .answering
      exchange.cut(with: response)
    case .answering: exchange?.cut(with: response)
    case .lingering, .closed: return
    }
    advance(now)
  }

  /// Since when it has had no request; nil while it has one. The oldest makes room when the server is full.
  var idleSince: Double? {
    switch stage {
    case .reading: exchange == nil ? waitingSince : nil
    case .lingering: lingerEnd - context.limits.lingerSeconds
    case .answering, .closed: nil
    }
  }

  /// Since when nothing has come of a body that is not whole; nil when none is awaited. Such clients make room when the
  /// server is full and none is idle.
  var stalledSince: Double? { stage == .reading && exchange != nil ? lastReceived : nil }

  /// Whether everything has been said.
  var hasSaidAll: Bool { stage == .lingering || stage == .closed }

  /// Ends the request too; the socket itself is closed by the event loop.
  func close() {
    stage = .closed
    endExchange()
  }

  // MARK: Reading

  private var wantsInput: Bool {
    switch stage {
    case .reading, .lingering: !hasEnded
    case .answering: !hasEnded && input.count - inputStart < Self.readAhead
    case .closed: false
    }
  }

  /// From `waitingSince`, which for the first head is the time of connecting, whenever its first byte comes.
  private var patienceForRequest: Double {
    let limits = context.limits
    switch framing.phase {
    case .idle: return framing.requests == 0 ? limits.headerSeconds : limits.idleSeconds
    case .head, .refused: return limits.headerSeconds
    case .body:
      return min(limits.mostBodySeconds, limits.bodySeconds + Double(framing.bodyBytes) / Double(limits.bodyRate))
    }
  }

  private func receive(_ now: Double, _ scratch: UnsafeMutableRawBufferPointer) {
    switch Sockets.receive(socket, into: scratch) {
    case .notNow: break
    case .bytes(let count):
      lastReceived = now
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

  /// False when more bytes are needed.
  private func readRequest(_ now: Double) -> Bool {
    guard flush(now) else { return false }
    let before = (framing.phase, framing.requests)
    defer {
      if framing.requests > 0 && before != (framing.phase, framing.requests) { waitingSince = now }
    }
    do {
      while stage == .reading {
        let found = try input.withUnsafeBytes { try framing.next($0, from: &inputStart) }
        switch found {
        case .head(let head): begin(head)
        case .body(let range): receiveBody(input[range])
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

  private func receiveBody(_ bytes: ArraySlice<UInt8>) {
    guard let exchange else { return }
    exchange.receive(bytes)
    let kept = exchange.request.body.count
    context.load.add(bodyBytes: kept - bodyBytes)
    bodyBytes = kept
    if context.load.bodyBytes > context.limits.allBodyBytes { refuse(.bodies) }
  }

  private func begin(_ head: RequestHead) {
    let request = HTTPRequest(method: head.method, path: head.path, headers: head.headers, address: address)
    rules = AnswerRules(isHead: head.method == "HEAD", isVersion11: head.isVersion11, keepsAlive: head.keepsAlive)
    if isExtra && !context.limits.firstPaths.contains(request.path) {
      refuse(make(request, .respond(.empty)), context.service.refusal(of: request, .connections))
      return
    }
    let exchange = make(request, context.service.action(for: request))
    if case .work = exchange.action {
      if context.addresses.isBusy(address) { return refuse(.requests) }
      context.addresses.add(address, requests: 1)
      isCounted = true
    }
    switch exchange.action {
    case .refuse(let response): refuse(exchange, response)
    case .respond(let response):
      // A client that asks first is spared the body, and told at once.
      if head.expectsContinue && awaitsBody { refuse(exchange, response) }
    case .work: if head.expectsContinue && awaitsBody { output.bytes += ResponseWriter.continues }
    }
  }

  private var awaitsBody: Bool { !framing.isWhole && inputStart == input.count }

  private func make(_ request: HTTPRequest, _ action: HTTPAction) -> Exchange {
    let exchange = Exchange(request, action: action, maximumBody: context.limits.bodyBytes)
    self.exchange = exchange
    context.load.add(exchanges: 1)
    return exchange
  }

  /// The request is broken: answers it with the error, whatever has come of it.
  private func refuse(_ error: FramingError) {
    if exchange == nil {
      let head = framing.head
      rules = AnswerRules(isHead: head.method == "HEAD", isVersion11: head.isVersion11, keepsAlive: false)
      _ = make(
        HTTPRequest(method: head.method, path: head.path, headers: head.headers, address: address), .respond(.empty))
    }
    guard let exchange else { return }
    refuse(exchange, context.service.refusal(of: exchange.head, error))
  }

  /// Answers without reading on.
  private func refuse(_ exchange: Exchange, _ response: HTTPResponse) {
    framing.refuse()
    exchange.reply(.whole(response.closing()))
    stage = .answering
  }

  /// The request is whole.
  private func start() {
    guard let exchange else { return }
    stage = .answering
    if exchange.isBodyTooLarge { return exchange.reply(.whole(context.service.bodyTooLarge(exchange.head))) }
    switch exchange.action {
    case .respond(let response), .refuse(let response): exchange.reply(.whole(response))
    case .work(let work):
      exchange.attach(wake)
      context.run { work(exchange) }
    }
  }

  private var wake: @Sendable () -> Void {
    { [weak self, mailbox = context.mailbox] in if let self { mailbox.post(self) } }
  }

  // MARK: Writing

  /// Sends what the socket takes; false when the client is gone.
  private func flush(_ now: Double) -> Bool {
    if output.isEmpty {
      lastSent = now
      return true
    }
    switch output.send(to: socket) {
    case .bytes(let count):
      lastSent = now
      exchange?.sentBytes += count
    case .notNow: break
    case .ended:
      close()
      return false
    }
    return true
  }

  /// False when there is something to wait for: the client, or the rest of the answer. A stream is read only when the
  /// client has taken all before it, so that what waits for a slow client is bounded by the stream's own limit.
  private func writeAnswer(_ now: Double) -> Bool {
    if let stream, stream.body.isBroken {
      close()
      return false
    }
    guard flush(now), output.isEmpty, let exchange else { return false }
    if isQueued {
      endAnswer(now)
      return true
    }
    if let stream { return add(stream.body, stream.framing) }
    switch exchange.next() {
    case .wait: return false
    case .drop: close()
    case .send(.whole(let response)): add(response, of: exchange)
    case .send(.stream(let headers, let body)): add(headers, body, of: exchange)
    }
    return true
  }

  private func add(_ response: HTTPResponse, of exchange: Exchange) {
    if response.isClosing || framing.phase == .refused || isStopping || isExtra { rules.keepsAlive = false }
    ResponseWriter.addHead(
      status: response.status, headers: response.headers + ownHeaders(exchange),
      framing: .length(response.body.count), rules, to: &output.bytes)
    if !rules.isHead { output.bytes += response.body }
    isQueued = true
  }

  private func ownHeaders(_ exchange: Exchange) -> [HTTPHeader] {
    context.service.headers(for: exchange.head) + [HTTPHeader("x-request-id", exchange.id)]
  }

  private func add(_ headers: [HTTPHeader], _ body: StreamBody, of exchange: Exchange) {
    let framing = rules.isVersion11 ? BodyFraming.chunks : .close
    if framing == .close || isStopping { rules.keepsAlive = false }
    ResponseWriter.addHead(
      status: 200, headers: headers + ownHeaders(exchange), framing: framing, rules,
      to: &output.bytes)
    stream = (body, framing)
    body.attach(wake)
  }

  /// The next part of a stream, or its end; false when there is none yet.
  private func add(_ body: StreamBody, _ framing: BodyFraming) -> Bool {
    if let text = body.read() {
      ResponseWriter.add(text, framing: framing, to: &output.bytes)
    } else if body.isComplete {
      if framing == .chunks { output.bytes += ResponseWriter.lastChunk }
      isQueued = true
    } else {
      return false
    }
    return true
  }

  // MARK: Ending

  private func endAnswer(_ now: Double) {
    exchange?.isWhole = true
    endExchange()
    if !rules.keepsAlive || isStopping { return linger(now) }
    stage = .reading
    waitingSince = now
    if input.isEmpty && input.capacity > Self.keptCapacity { input = [] }
  }

  private func endExchange() {
    stream = nil
    isQueued = false
    guard let ended = exchange else { return }
    exchange = nil
    ended.complete()
    context.load.add(exchanges: -1, bodyBytes: -bodyBytes)
    bodyBytes = 0
    if isCounted { context.addresses.add(address, requests: -1) }
    isCounted = false
    context.service.finished(ended)
  }

  /// The client has gone away, it seems.
  private func leave(_ now: Double) {
    hasLeft = true
    guard let exchange else { return close() }
    rules.keepsAlive = false
    exchange.leave(with: context.service.refusal(of: exchange.head, .clientLeft).closing())
    advance(now)
  }

  /// A socket closed with bytes of the client unread would take the answer back, so the rest is read for a while.
  private func linger(_ now: Double) {
    if hasEnded { return close() }
    _ = shutdown(socket, Int32(SHUT_WR))
    (input, inputStart) = ([], 0)
    stage = .lingering
    lingerEnd = now + context.limits.lingerSeconds
  }
}

/// How many connections and requests there are. Written by the event loop, read by any thread.
final class ConnectionLoad: @unchecked Sendable {
  private let lock = NSLock()
  private var stored = (connections: 0, exchanges: 0, bodyBytes: 0)  // guarded by `lock`

  func add(connections: Int = 0, exchanges: Int = 0, bodyBytes: Int = 0) {
    lock.withLock {
      stored.connections += connections
      stored.exchanges += exchanges
      stored.bodyBytes += bodyBytes
    }
  }

  var connections: Int { lock.withLock { stored.connections } }
  var exchanges: Int { lock.withLock { stored.exchanges } }
  /// Of requests that are read or answered.
  var bodyBytes: Int { lock.withLock { stored.bodyBytes } }
}
