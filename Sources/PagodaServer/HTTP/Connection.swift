// Connection: one client. Reads a request, has it answered, writes the answer, and repeats, in that order, so that
// pipelined requests are answered in order. On the event loop's thread.
import Foundation

final class Connection: @unchecked Sendable {
  enum Stage {
    case reading  // a request, or idle between two requests
    case answering
    case lingering  // everything has been sent; remaining input is discarded
    case closed
  }

  /// Bytes of later requests that are read while one is answered.
  static let readAhead = 64 << 10
  /// Bytes that an idle connection may keep for its next request.
  private static let keptCapacity = 4 << 10
  /// Parts of a stream written at a time, before others are served.
  private static let turns = 16
  /// How long a request continues after its client has closed its side.
  private static let patience = 0.1

  var channel: ByteChannel
  var socket: Int32 { channel.socket }
  let address: String
  let isExtra: Bool  // the server is full: only requests that need no work are answered
  var isPosted = false  // belongs to the mailbox
  var noted: Waiting?  // belongs to the event loop

  let context: ConnectionContext
  var stage = Stage.reading
  var framing: RequestFraming
  var input: [UInt8] = []
  var inputStart = 0  // start of the input that has not been framed
  var output = SendBuffer()

  var exchange: Exchange?
  var rules = AnswerRules()
  var stream: (body: StreamBody, framing: BodyFraming)?
  var isQueued = false  // the whole answer is in `output`, or was
  var isStopping = false
  var bodyBytes = 0  // of the request, included in the total of all requests
  var countedFor: String?  // the address in whose limit the request is counted

  var hasEnded = false  // the client has closed its side, and everything before that has been read
  var leftSince: Double?  // when it closed its side
  private var hasLeft = false  // its request has been cancelled because of that
  var waitingSince: Double  // since when it waits for a request, or for the rest of a head or body
  var lastSent: Double
  var progress: (since: Double, bytes: Int)  // of the head or body, when it last counted as progress
  private var lingerEnd = 0.0
  var lingerBytes = 0

  init(
    socket: Int32, session: (any SecureSession)? = nil, address: String, isExtra: Bool = false,
    _ context: ConnectionContext, now: Double
  ) {
    channel = ByteChannel(socket: socket, session: session)
    self.address = address
    self.isExtra = isExtra
    self.context = context
    framing = RequestFraming(
      maximumHead: context.limits.headerBytes, maximumBody: context.limits.mostBodyBytes)
    (waitingSince, lastSent, progress) = (now, now, (now, 0))
  }

  // MARK: Interface of the event loop

  /// The events to wait for.
  var interest: Interest {
    var interest: Interest = []
    if wantsInput { interest.insert(.read) }
    if !output.isEmpty || channel.waitsForWriting { interest.insert(.write) }
    if stage == .answering && leftSince == nil { interest.insert(.hangUp) }
    return interest
  }

  /// When to call `expire` if nothing happens before; it may be called too early.
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
    if (ready.canRead || ready.isBroken || channel.waitsForWriting) && wantsInput { receive(now, scratch) }
    if ready.peerHasEnded { leftSince = leftSince ?? now }
    advance(now)
  }

  /// Makes progress without waiting.
  func advance(_ now: Double) {
    for _ in 0..<Self.turns {
      if channel.hasPending && wantsInput { receivePending(now) }
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

  /// The server stops: ends a stream with an error event, answers anything else with `response`, and then closes.
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

  /// The input that the server waits for; nil while it answers. Such clients are disconnected first when the server is
  /// full.
  var waiting: Waiting? {
    switch stage {
    case .reading where framing.phase == .idle && framing.requests > 0: Waiting(part: .nextRequest, since: waitingSince)
    case .reading: Waiting(part: exchange == nil ? .head : .body, since: progress.since, bodyBytes: bodyBytes)
    case .lingering: Waiting(part: .nextRequest, since: lingerEnd - context.limits.lingerSeconds)
    case .answering, .closed: nil
    }
  }

  /// Disconnects to make room for others. A client with an incomplete request gets the error, if it can be sent
  /// immediately.
  func fail(_ error: FramingError, _ now: Double) {
    if stage == .reading && framing.phase != .idle {
      refuse(error)
      advance(now)
    }
    close()
  }

  /// Whether everything has been sent.
  var isFinished: Bool { stage == .lingering || stage == .closed }

  /// Ends the request too; the event loop closes the socket itself.
  func close() {
    stage = .closed
    endExchange()
  }

  // MARK: Ending

  func endAnswer(_ now: Double) {
    let wasCut = stream?.body.wasCut ?? false
    exchange?.isWhole = !wasCut
    endExchange()
    if !rules.keepsAlive || isStopping || wasCut { return linger(now) }
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
    if let countedFor { context.addresses.add(countedFor, requests: -1) }
    countedFor = nil
    context.service.finished(ended)
  }

  /// The client seems to have disconnected.
  private func leave(_ now: Double) {
    hasLeft = true
    guard let exchange else { return close() }
    rules.keepsAlive = false
    exchange.leave(with: context.service.refusal(of: exchange.head, .clientLeft).closing())
    advance(now)
  }

  /// Closing a socket with unread input would discard the answer, so the rest is read for a while.
  private func linger(_ now: Double) {
    if hasEnded { return close() }
    channel.finish()
    _ = shutdown(socket, Int32(SHUT_WR))
    (input, inputStart) = ([], 0)
    stage = .lingering
    lingerEnd = now + context.limits.lingerSeconds
  }
}
