// Guard: who may talk to the server. Keys, the Host header against DNS rebinding, and the Origin of web pages.

struct Guard: Sendable {
  var apiKeys: [String]
  /// Only names of this machine are answered to; off when the server listens beyond it.
  var isLoopbackOnly: Bool
  var secret = TenantSecret()

  /// Routes that need no key: the page itself and whether the server lives.
  static let publicRoutes = Set(PageFile.all.keys).union(["/health", "/ping"])

  func check(_ request: HTTPRequest) throws {
    let hosts = request.values("host")
    guard hosts.count == 1, let host = hosts.first, !host.isEmpty else {
      throw APIError.invalid("the request must have one Host header", code: "bad_host")
    }
    if isLoopbackOnly && !Self.isThisMachine(host) {
      throw APIError.invalid("this server answers only to names of this machine", code: "host_not_allowed", status: 403)
    }
    let origins = request.values("origin")
    if !origins.allSatisfy({ $0 == "http://\(host)" || $0 == "https://\(host)" }) {
      throw APIError.invalid("requests of other web pages are refused", code: "origin_not_allowed", status: 403)
    }
    if !apiKeys.isEmpty && !Self.publicRoutes.contains(request.path) { try checkKey(request) }
  }

  /// `localhost`, `127.x.x.x` and `[::1]`, with any port.
  static func isThisMachine(_ host: String) -> Bool {
    if host.hasPrefix("[") { return host == "[::1]" || host.hasPrefix("[::1]:") }
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.count == 1 || UInt16(parts[1]) != nil else { return false }
    let name = parts[0].lowercased()
    let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return name == "localhost" || (numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil))
  }

  /// What one key's requests have computed must not show, by its speed, to the holder of another, in this process or
  /// the next: requests share prefixes only with those of the same key and salt. Without keys the salt stands as it is.
  func cacheSalt(of request: HTTPRequest, _ salt: String) -> String {
    guard let index = keyIndex(request) else { return salt }
    return secret.salt(key: apiKeys[index], salt)
  }

  /// Keys take their tokens from equal shares of the engine.
  func shareID(of request: HTTPRequest) -> String { keyIndex(request).map { "key \($0)" } ?? "" }

  private func checkKey(_ request: HTTPRequest) throws {
    guard keyIndex(request) == nil else { return }
    throw APIError(
      status: 401, message: "the request needs the server's API key as `Authorization: Bearer KEY`",
      type: "authentication_error", code: "invalid_api_key", headers: [HTTPHeader("WWW-Authenticate", "Bearer")])
  }

  private func keyIndex(_ request: HTTPRequest) -> Int? {
    let bearer = request.values("authorization")
    let plain = request.values("x-api-key")
    var given = plain
    for value in bearer where value.lowercased().hasPrefix("bearer ") { given.append(String(value.dropFirst(7))) }
    // One credential, or twice the same: two different ones are somebody's mistake or trick.
    let isOne = bearer.count <= 1 && plain.count <= 1 && Set(given).count == 1
    var known: Int?
    for (index, key) in apiKeys.enumerated() where Self.isEqual(key, given.first ?? "") { known = index }
    return isOne ? known : nil
  }

  /// Takes as long for a wrong first byte as for a wrong last one; only the length of what was sent shows.
  static func isEqual(_ key: String, _ given: String) -> Bool {
    let (key, given) = (Array(key.utf8), Array(given.utf8))
    var difference = UInt8(key.count == given.count ? 0 : 1)
    for (index, byte) in given.enumerated() { difference |= byte ^ (key.isEmpty ? 0xFF : key[index % key.count]) }
    return difference == 0 && !given.isEmpty
  }
}
