// The callbacks of libmicrohttpd. They run on its threads, so they belong to no actor and never wait.
import CMicroHTTPD
import Foundation

func handleRequest(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
  method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, data: UnsafePointer<CChar>?,
  size: UnsafeMutablePointer<Int>?, state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context, let connection, let url, let method, let size, let state else { return .NO }
  let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
  guard let opaque = state.pointee else {
    let exchange = server.begin(connection, method: String(cString: method), path: String(cString: url))
    state.pointee = Unmanaged.passRetained(exchange).toOpaque()
    if case .refuse(let response) = exchange.action {
      exchange.reply(.whole(response.closing()))
      return server.proceed(exchange, connection)
    }
    return .YES
  }
  let exchange = Unmanaged<Exchange>.fromOpaque(opaque).takeUnretainedValue()
  if size.pointee > 0 {
    exchange.receive(UnsafeRawBufferPointer(start: data, count: size.pointee))
    size.pointee = 0
    return .YES
  }
  return server.proceed(exchange, connection)
}

func requestCompleted(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
  state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
  guard let context, let state, let opaque = state.pointee else { return }
  let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
  let exchange = Unmanaged<Exchange>.fromOpaque(opaque).takeRetainedValue()
  state.pointee = nil
  exchange.complete()
  connection.flatMap(socketConnection)?.end()
  server.service.finished(exchange.request, status: exchange.status, seconds: monotonicSeconds() - exchange.start)
}

func connectionChanged(
  context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
  state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, change: MHD_ConnectionNotificationCode
) {
  guard let context, let connection, let state else { return }
  let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
  if change == .CONNECTION_NOTIFY_STARTED {
    let object = server.arrived(pagoda_http_socket(connection))
    state.pointee = Unmanaged.passRetained(object).toOpaque()
    server.watch.add(object)
  } else if let opaque = state.pointee {
    server.watch.remove(Unmanaged<Connection>.fromOpaque(opaque).takeRetainedValue())
    state.pointee = nil
  }
}

private func socketConnection(_ connection: OpaquePointer) -> Connection? {
  pagoda_http_socket_context(connection).map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
}

private func readStream(
  context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, capacity: Int
) -> Int {
  guard let context, let buffer else { return Int(MHD_CONTENT_READER_END_WITH_ERROR) }
  let sender = Unmanaged<StreamSender>.fromOpaque(context).takeUnretainedValue()
  return sender.body.read(into: .init(start: buffer, count: capacity), connection: sender.connection)
}

private func releaseStream(_ context: UnsafeMutableRawPointer?) {
  if let context { Unmanaged<StreamSender>.fromOpaque(context).release() }
}

/// A stream and the connection it goes out on; owned by the library's response.
private final class StreamSender {
  let body: StreamBody
  let connection: OpaquePointer

  init(_ body: StreamBody, _ connection: OpaquePointer) {
    self.body = body
    self.connection = connection
  }
}

extension HTTPServer {
  fileprivate func begin(_ connection: OpaquePointer, method: String, path: String) -> Exchange {
    let headers = HeaderList()
    MHD_get_connection_values(
      connection, .HEADER_KIND, collectHeader, Unmanaged.passUnretained(headers).toOpaque())
    let request = HTTPRequest(method: method, path: path, headers: headers.list)
    let link = socketConnection(connection)
    link?.count()
    let action =
      link?.error.map { .refuse(service.refusal(of: request, $0)) } ?? service.action(for: request)
    let exchange = Exchange(request, action: action, maximumBody: limits.bodyBytes)
    link?.begin(exchange)
    return exchange
  }

  /// The body is complete, or the work has an answer.
  fileprivate func proceed(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
    startOnce(exchange, connection)
    switch next(exchange, connection) {
    case .wait: return .YES
    case .drop: return .NO
    case .send(.whole(let response)): return send(response, of: exchange, on: connection)
    case .send(.stream(let headers, let body)):
      let sender = Unmanaged.passRetained(StreamSender(body, connection)).toOpaque()
      guard
        let response = MHD_create_response_from_callback(UInt64.max, 16 << 10, readStream, sender, releaseStream)
      else {
        releaseStream(sender)
        return .NO
      }
      return queue(response, status: 200, headers: headers + [HTTPHeader("x-request-id", exchange.id)], on: connection)
    }
  }

  private func startOnce(_ exchange: Exchange, _ connection: OpaquePointer) {
    guard exchange.beginAnswering() else { return }
    let link = socketConnection(connection)
    link?.bodyEnded()
    if let error = link?.error {
      return exchange.reply(.whole(service.refusal(of: exchange.request, error).closing()))
    }
    if exchange.isBodyTooLarge {
      return exchange.reply(.whole(service.bodyTooLarge(exchange.request)))
    }
    switch exchange.action {
    case .respond(let response): exchange.reply(.whole(response))
    case .refuse: break
    case .work(let work): run { work(exchange) }
    }
  }

  private func send(_ response: HTTPResponse, of exchange: Exchange, on connection: OpaquePointer) -> MHD_Result {
    let created = response.body.withUnsafeBytes {
      MHD_create_response_from_buffer(
        $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let created else { return .NO }
    return queue(
      created, status: response.status, headers: response.headers + [HTTPHeader("x-request-id", exchange.id)],
      on: connection)
  }

  private func queue(
    _ response: OpaquePointer, status: Int, headers: [HTTPHeader], on connection: OpaquePointer
  ) -> MHD_Result {
    for header in headers { _ = MHD_add_response_header(response, header.name, header.value) }
    let result = MHD_queue_response(connection, UInt32(status), response)
    MHD_destroy_response(response)
    return result
  }
}

private final class HeaderList {
  var list: [HTTPHeader] = []
}

private func collectHeader(
  context: UnsafeMutableRawPointer?, kind: MHD_ValueKind, name: UnsafePointer<CChar>?, value: UnsafePointer<CChar>?
) -> MHD_Result {
  guard let context, let name else { return .NO }
  let headers = Unmanaged<HeaderList>.fromOpaque(context).takeUnretainedValue()
  headers.list.append(HTTPHeader(String(cString: name).lowercased(), value.map { String(cString: $0) } ?? ""))
  return .YES
}

extension HTTPResponse {
  func closing() -> HTTPResponse {
    var response = self
    response.headers.append(HTTPHeader("Connection", "close"))
    return response
  }
}
