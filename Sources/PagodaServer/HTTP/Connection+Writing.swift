// Connection+Writing: writes whole answers and streams as fast as the client reads them. On the event loop's thread.
import Foundation

extension Connection {
  /// Sends as much as the socket accepts; false if the client has disconnected.
  func flush(_ now: Double) -> Bool {
    if output.isEmpty {
      lastSent = now
      return true
    }
    switch output.send(to: channel) {
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

  /// Returns false if it must wait for the client or for the rest of the answer. A stream is read only when the
  /// client has taken everything before it, so that the backlog of a slow client is bounded by the stream's own limit.
  func writeAnswer(_ now: Double) -> Bool {
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
    let trace = exchange.trace?.responseHeader.map { [HTTPHeader("traceresponse", $0)] } ?? []
    return context.service.headers(for: exchange) + [HTTPHeader("x-request-id", exchange.id)] + trace
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

  /// The next part of a stream, or its end; false if there is none yet.
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
}
