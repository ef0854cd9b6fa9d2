// Guard: access control of the server. Keys, the Host header against DNS rebinding, and the Origin of web pages.
import Foundation

struct Guard: Sendable {
  let keys: [APIKey]
  /// Other machines cannot reach the server.
  let isLoopbackOnly: Bool
  let allowedHosts: [String]
  let allowedOrigins: [String]
  let secret: TenantSecret
  /// The token with which other servers may fetch prefix files; nil disables it.
  let peerToken: String?
  let limits: KeyLimits
  private let proxies: TrustedProxies
  private let failed = FailedKeys()
  private let ownNames: [String]  // names of this machine that other machines may use

  init(
    keys: [APIKey] = [], isLoopbackOnly: Bool, allowedHosts: [String] = [], allowedOrigins: [String] = [],
    secret: TenantSecret = TenantSecret(), peerToken: String? = nil, proxies: TrustedProxies = TrustedProxies()
  ) {
    self.keys = keys
    self.isLoopbackOnly = isLoopbackOnly
    self.allowedHosts = allowedHosts.map { $0.lowercased() }
    self.allowedOrigins = allowedOrigins.map { $0.lowercased() }
    self.secret = secret
    self.peerToken = peerToken
    self.proxies = proxies
    limits = KeyLimits(keys)
    let name = ProcessInfo.processInfo.hostName.lowercased()
    ownNames = isLoopbackOnly ? [] : [name, name.split(separator: ".").first.map { "\($0).local" } ?? name]
  }

  /// Routes that need no key: the page itself and the health check.
  static let publicRoutes = Set(PageFile.all.keys).union(["/health", "/ping", "/livez", "/readyz"])

  func check(_ request: HTTPRequest) throws {
    let hosts = request.values("host")
    guard hosts.count == 1, let host = hosts.first, !host.isEmpty else {
      throw APIError.invalid("the request must have one Host header", code: "bad_host")
    }
    if checksHost && !isAllowed(host: host) {
      throw APIError.invalid("this server answers only to names of this machine", code: "host_not_allowed", status: 403)
    }
    let origins = request.values("origin")
    if !origins.allSatisfy({ $0 == "http://\(host)" || $0 == "https://\(host)" || isAllowed(origin: $0) }) {
      throw APIError.invalid("requests of other web pages are refused", code: "origin_not_allowed", status: 403)
    }
    if let peerToken, request.path.hasPrefix(Service.peerPath) { return try checkPeer(request, peerToken) }
    if !keys.isEmpty && !Self.publicRoutes.contains(request.path) && !asksForName(request) { try checkKey(request) }
  }

  /// A router that asks, without a key, for the model's name, which is all that it gets. With a key it must be the right
  /// one: the answers would otherwise tell whether a guess was.
  func asksForName(_ request: HTTPRequest) -> Bool {
    !keys.isEmpty && ["/server_info", "/model_info"].contains(request.path) && ["GET", "HEAD"].contains(request.method)
      && (request.values("authorization") + request.values("x-api-key")).isEmpty
  }

  /// `localhost`, `127.x.x.x` and `[::1]`, with any port.
  static func isThisMachine(_ host: String) -> Bool {
    if host.hasPrefix("[::1]") {
      let port = host.dropFirst(5)
      return port.isEmpty || port.hasPrefix(":") && UInt16(port.dropFirst()) != nil
    }
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.count == 1 || UInt16(parts[1]) != nil else { return false }
    let name = parts[0].lowercased()
    let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return name == "localhost" || (numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil))
  }

  /// One key's cached prefixes must not be detectable, by their speed, with another key, in this process or
  /// the next: requests share prefixes only with those of the same key and salt. Without keys the salt is used
  /// unchanged.
  func cacheSalt(of request: HTTPRequest, _ salt: String) -> String {
    guard let index = keyIndex(request) else { return salt }
    return secret.salt(key: keys[index].key, salt)
  }

  /// The name of the request's key: clients see only their own stored responses.
  func owner(of request: HTTPRequest) -> String { keyIndex(request).map { keys[$0].name } ?? "" }

  /// Whether the request's key may download and delete models.
  func isAdmin(_ request: HTTPRequest) -> Bool { keyIndex(request).map { keys[$0].isAdmin } ?? false }

  /// Keys get equal shares of the engine; a key with several shares rotates through them.
  func shareID(of request: HTTPRequest) -> String { keyIndex(request).map { limits.shareID($0) } ?? "" }

  /// A class outranks all shares, so clients may lower their priority (raise the value) but not go before their key's.
  func priority(of request: HTTPRequest, _ asked: Int) -> Int {
    let own = max(asked, keyIndex(request).map { keys[$0].priority } ?? 0)
    if !request.isBatch { return min(own, Self.batchPriority - 1) }
    return min(max(own, 0) + Self.batchPriority, Int(Int32.max))
  }

  /// Lines of batches run after all requests of clients that wait, whatever the values of these and of their keys.
  private static let batchPriority = 1_000_000

  /// Signs and encrypts the thinking that a client's key gets and sends back.
  func seal(of request: HTTPRequest) -> ReasoningSeal {
    ReasoningSeal(key: Array(secret.salt(key: keyIndex(request).map { keys[$0].key } ?? "", "reasoning").utf8))
  }

  private func checkKey(_ request: HTTPRequest) throws {
    if let index = keyIndex(request) {
      if request.method == "POST", let wait = limits.begin(index) {
        throw APIError.limited("the key \(keys[index].name) has used up its limit for now; wait", wait)
      }
      return
    }
    let given = request.values("authorization") + request.values("x-api-key")
    if !given.isEmpty, let wait = failed.count(given.joined(separator: " "), from: address(of: request)) {
      throw APIError.limited("too many requests with wrong keys from your address; wait", wait)
    }
    throw APIError(
      status: 401, message: "the request needs the server's API key as `Authorization: Bearer KEY`",
      type: "authentication_error", code: "invalid_api_key", headers: [HTTPHeader("WWW-Authenticate", "Bearer")])
  }

  private func checkPeer(_ request: HTTPRequest, _ token: String) throws {
    let given = request.values("x-pagoda-peer")
    if given.count == 1, Self.isEqual(token, given[0]) { return }
    if let wait = failed.count(given.joined(separator: " "), from: address(of: request)) {
      throw APIError.limited("too many requests with wrong secrets from your address; wait", wait)
    }
    throw APIError(
      status: 401, message: "prefix files are available only to servers that share this one's secret",
      type: "authentication_error", code: "invalid_peer")
  }

  /// The client's own address, if a trusted proxy reports it.
  func address(of request: HTTPRequest) -> String { proxies.client(of: request) }

  /// The index of the key that a request brings.
  func keyIndex(_ request: HTTPRequest) -> Int? {
    let bearer = request.values("authorization")
    let plain = request.values("x-api-key")
    var given = plain
    for value in bearer where value.lowercased().hasPrefix("bearer ") { given.append(String(value.dropFirst(7))) }
    // One credential, or several times the same, as a router sends that adds its own to the client's: two different
    // ones are a mistake or an attack.
    let isOne = Set(bearer).count <= 1 && Set(plain).count <= 1 && Set(given).count == 1
    var known: Int?
    for (index, key) in keys.enumerated() where Self.isEqual(key.key, given.first ?? "") { known = index }
    return isOne ? known : nil
  }

  /// Constant time in the content; only the length of the input is observable.
  static func isEqual(_ key: String, _ given: String) -> Bool {
    let (key, given) = (Array(key.utf8), Array(given.utf8))
    var difference = UInt8(key.count == given.count ? 0 : 1)
    for (index, byte) in given.enumerated() { difference |= byte ^ (key.isEmpty ? 0xFF : key[index % key.count]) }
    return difference == 0 && !given.isEmpty
  }
}

// MARK: Names and origins

extension Guard {
  /// A web page whose host name resolves to this server could use it. A page does not know the key, so if there is one,
  /// any name is accepted.
  private var checksHost: Bool { isLoopbackOnly || keys.isEmpty || !allowedHosts.isEmpty }

  /// Numeric addresses cannot be the host name of a page from another site.
  func isAllowed(host: String) -> Bool {
    if Self.isThisMachine(host) { return true }
    let name = Self.withoutPort(host.lowercased())
    if !isLoopbackOnly && (Self.isNumeric(name) || ownNames.contains(name)) { return true }
    return allowedHosts.contains { Self.matches($0, name) }
  }

  func isAllowed(origin: String) -> Bool {
    let origin = origin.lowercased()
    return origin != "null" && allowedOrigins.contains { Self.matches($0, origin) }
  }

  /// Headers that let a page of an explicitly allowed origin read the answer.
  func originHeaders(_ request: HTTPRequest) -> [HTTPHeader] {
    guard !allowedOrigins.isEmpty, let origin = request.values("origin").first, isAllowed(origin: origin) else {
      return []
    }
    return [
      HTTPHeader("Access-Control-Allow-Origin", origin), HTTPHeader("Vary", "Origin"),
      HTTPHeader("Access-Control-Expose-Headers", "x-request-id, request-id, retry-after"),
    ]
  }

  /// The response to a browser's preflight request; nil for all other requests.
  func preflight(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.method == "OPTIONS", !request.values("access-control-request-method").isEmpty,
      let host = request.values("host").first, !checksHost || isAllowed(host: host), !originHeaders(request).isEmpty
    else { return nil }
    let asked = request.values("access-control-request-headers").first ?? ""
    let names = asked.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_, ".contains($0)) }
    return HTTPResponse(
      type: "text/plain",
      headers: [
        HTTPHeader("Access-Control-Allow-Methods", "GET, POST, DELETE"),
        HTTPHeader("Access-Control-Allow-Headers", names.isEmpty ? "content-type, authorization" : names),
        HTTPHeader("Access-Control-Max-Age", "600"),
      ], body: [])
  }

  /// `*` matches any prefix or suffix.
  static func matches(_ pattern: String, _ text: String) -> Bool {
    if pattern.hasPrefix("*") { return text.hasSuffix(pattern.dropFirst()) }
    if pattern.hasSuffix("*") { return text.hasPrefix(pattern.dropLast()) }
    return pattern == text
  }

  private static func withoutPort(_ host: String) -> String {
    let mark = host.hasPrefix("[") ? host.firstIndex(of: "]").map { host.index(after: $0) } : host.firstIndex(of: ":")
    guard let mark, mark < host.endIndex else { return host.trimmingCharacters(in: ["[", "]"]) }
    // What follows must be a port: `[::1]:x.evil` is the name of another site.
    guard host[mark] == ":", UInt16(host[host.index(after: mark)...]) != nil else { return "" }
    return host[..<mark].trimmingCharacters(in: ["[", "]"])
  }

  private static func isNumeric(_ name: String) -> Bool {
    var bytes = in6_addr()
    return inet_pton(AF_INET, name, &bytes) == 1 || inet_pton(AF_INET6, name, &bytes) == 1
  }
}
