// PageFile: the files of the chat page, which are part of the binary.
import ServerPage

struct PageFile: Sendable {
  let response: HTTPResponse

  static let index = PageFile("index.html", type: "text/html; charset=utf-8")
  static let style = PageFile("app.css", type: "text/css; charset=utf-8")
  static let script = PageFile("app.js", type: "text/javascript; charset=utf-8")
  static let icon = PageFile("favicon.svg", type: "image/svg+xml")
  static let openAPI = PageFile("openapi.json", type: "application/json")

  /// Nothing from elsewhere, nothing inline: what a model writes can neither load nor run anything.
  private static let policy =
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    + "frame-ancestors 'none'"

  private init(_ name: String, type: String) {
    var bytes: [UInt8] = []
    for index in 0..<pagoda_page_file_count() {
      let file = pagoda_page_file(index)
      if String(cString: file.name) == name { bytes = Array(UnsafeBufferPointer(start: file.data, count: file.size)) }
    }
    response = HTTPResponse(
      status: bytes.isEmpty ? 404 : 200, type: type,
      headers: [
        HTTPHeader("Content-Security-Policy", Self.policy), HTTPHeader("X-Content-Type-Options", "nosniff"),
        HTTPHeader("Referrer-Policy", "no-referrer"), HTTPHeader("Cache-Control", "no-cache"),
        HTTPHeader("Cross-Origin-Opener-Policy", "same-origin"),
        HTTPHeader("Cross-Origin-Resource-Policy", "same-origin"),
      ], body: bytes)
  }
}
