// Requests and responses as values.

struct HTTPHeader: Sendable, Hashable {
  var name: String
  var value: String

  init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

struct HTTPRequest: Sendable {
  var method: String
  var path: String  // without the query
  var headers: [HTTPHeader]  // names in lower case
  var body: [UInt8] = []
  var address = ""  // the client's, without its port
  var query = ""  // undecoded, without the question mark
  var isBatch = false  // a line of a batch, which runs after requests of clients that wait

  /// The first value of a parameter in the query.
  func parameter(_ name: String) -> String? {
    for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
      let parts = Array(pair).split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      if RequestHead.decode(parts[0]) == name { return parts.count > 1 ? RequestHead.decode(parts[1]) : "" }
    }
    return nil
  }

  /// Every value given for a name in lower case.
  func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
}

struct HTTPResponse: Sendable {
  var status: Int
  var headers: [HTTPHeader]
  var body: [UInt8]

  init(status: Int = 200, type: String, headers: [HTTPHeader] = [], body: [UInt8]) {
    self.status = status
    self.headers = [HTTPHeader("Content-Type", type)] + headers
    self.body = body
  }
}

extension HTTPResponse {
  static let empty = HTTPResponse(type: "text/plain", body: [])

  /// The connection is closed after it.
  func closing() -> HTTPResponse {
    var response = self
    if !isClosing { response.headers.append(HTTPHeader("Connection", "close")) }
    return response
  }

  var isClosing: Bool { headers.contains { ResponseWriter.isConnection($0) && $0.value == "close" } }
}

/// An answer to a request.
enum HTTPReply: Sendable {
  case whole(HTTPResponse)
  case stream([HTTPHeader], StreamBody)
}

/// The decision about a request once its headers are known.
enum HTTPAction: Sendable {
  /// Read and discard the body, then answer.
  case respond(HTTPResponse)
  /// Answer immediately and close, without reading the body.
  case refuse(HTTPResponse)
  /// Collect the body, then run this on a worker; it answers through the exchange.
  case work(@Sendable (Exchange) -> Void)
}

/// The program behind an HTTPServer. Called on the event loop, which must never wait.
protocol HTTPService: AnyObject, Sendable {
  func action(for request: HTTPRequest) -> HTTPAction
  /// Large bodies of different senders are read in turn.
  func sender(of request: HTTPRequest) -> String
  /// The client's address, which differs from the connection's behind a trusted proxy.
  func address(of request: HTTPRequest) -> String
  /// The body is longer than the limit.
  func bodyTooLarge(_ request: HTTPRequest) -> HTTPResponse
  /// The request is invalid; only its request line is known, or `-`.
  func refusal(of request: HTTPRequest, _ error: FramingError) -> HTTPResponse
  /// Headers that every answer to this request has.
  func headers(for exchange: Exchange) -> [HTTPHeader]
  /// The request's place in a distributed trace; nil if it belongs to none.
  func trace(of request: HTTPRequest) -> TraceContext?
  /// A request has been answered, or its client has disconnected (status 499).
  func finished(_ exchange: Exchange)
}

extension HTTPService {
  func address(of request: HTTPRequest) -> String { request.address }
  func trace(of request: HTTPRequest) -> TraceContext? { nil }
}

/// Sizes and times that keep one client from affecting the others.
struct HTTPLimits: Sendable {
  var connections = 1024
  var reserve = 32  // connections beyond these, which get `firstPaths` and are told that the server is full
  var firstPaths: Set<String> = []  // answered even when the server is full
  var connectionsPerAddress: Int?
  var requestsPerAddress: Int?
  var proxies = TrustedProxies()  // many clients share the address of one
  var bodyBytes = 16 << 20
  var mostBodyBytes: Int { 4 * bodyBytes }  // read before it is refused, so that the connection stays usable
  var headerBytes = 16 << 10
  var headerSeconds = 10.0  // from connecting to the end of the first headers; for later ones from their first byte
  var idleSeconds = 75.0  // between requests of a connection
  var bodySeconds = 20.0  // for a body, plus one second per `bodyRate` bytes
  var bodyRate = 16 << 10
  var mostBodySeconds = 300.0
  var allBodyBytes = 256 << 20  // of all requests being read or answered
  var unfinishedBodies: Int { connections - connections / 4 }  // of all clients
  var lingerSeconds = 5.0  // for a client to read the last answer while it still sends
  var keepAliveSeconds = 10.0  // between keep-alive items in a stream
  var pendingEvents = 4096  // limit for a stream with a slow reader: about 1 MiB
}
