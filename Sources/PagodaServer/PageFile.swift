// PageFile: the files of the chat page, which are part of the binary.
import ServerPage

struct PageFile: Sendable {
  let response: HTTPResponse

  /// The files by path.
  static let all: [String: PageFile] = {
    var files: [String: PageFile] = [:]
    for index in 0..<pagoda_page_file_count() {
      let file = pagoda_page_file(index)
      let name = String(cString: file.name)
      let path = ["index.html": "/", "status.html": "/status"][name] ?? "/" + name
      files[path] = PageFile(
        name, Array(UnsafeBufferPointer(start: file.data, count: file.size)))
    }
    return files
  }()

  private static func type(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "application/json"
    }
  }

  /// Nothing external, nothing inline: a model's output can neither load nor run anything.
  private static let policy =
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    + "frame-ancestors 'none'"

  private init(_ name: String, _ bytes: [UInt8]) {
    response = HTTPResponse(
      type: Self.type(of: name),
      headers: [
        HTTPHeader("Content-Security-Policy", Self.policy), HTTPHeader("X-Content-Type-Options", "nosniff"),
        HTTPHeader("Referrer-Policy", "no-referrer"), HTTPHeader("Cache-Control", "no-cache"),
        HTTPHeader("Cross-Origin-Opener-Policy", "same-origin"),
        HTTPHeader("Cross-Origin-Resource-Policy", "same-origin"),
      ], body: bytes)
  }
}
