// Batch: requests that are answered when the engine has time for them, with the answers kept until they are fetched.
import Foundation
import PagodaKit

/// A batch of either API. Its mutable state is guarded by the lock of its `BatchRunner`.
final class Batch: @unchecked Sendable {
  enum Kind: Equatable {
    case openAI(endpoint: String, inputFile: String)
    case anthropic
  }

  enum Ending: String {
    case completed
    case cancelled
    case expired
    case failed  // there is no room for its results
  }

  struct Counts {
    var succeeded = 0
    var errored = 0
    var cancelled = 0
    var expired = 0

    var all: Int { succeeded + errored + cancelled + expired }
  }

  let id: String
  let kind: Kind
  let owner: String  // the name of the client's key; other keys do not see it
  let headers: [HTTPHeader]  // the client's credentials
  let metadata: JSONValue
  let created = Int64(Date().timeIntervalSince1970)
  var expires: Int64 { created + 24 * 3600 }

  let lineCount: Int
  var next = 0  // the first line that has not been started
  var returned: [Int] = []  // lines to start again, because the server was busy
  var running: [Int: Exchange] = [:]
  var reserved = 0  // lines about to run, whose exchange does not exist yet
  var counts = Counts()
  private var firstLine: [String: Int] = [:]  // by custom_id
  var isClosing = false  // its last results are being written
  var outputFile: String?
  var errorFile: String?
  var ending: Ending?  // decided; it has ended when nothing runs
  var stopTime: Int64?  // when the ending was decided
  var endTime: Int64?
  var failure: String?

  private var input: [UInt8]
  private let lines: [Range<Int>]
  /// The hidden file that counts the input among its owner's files; nil if the input is a file of the client.
  var inputFile: String?

  /// The lines of `input` that are not empty are requests.
  init(_ kind: Kind, input: [UInt8], owner: String, headers: [HTTPHeader], metadata: JSONValue) {
    id = randomID(kind == .anthropic ? "msgbatch_" : "batch_")
    self.kind = kind
    self.owner = owner
    self.headers = headers
    self.metadata = metadata
    self.input = input
    lines = Self.ranges(of: input)
    lineCount = lines.count
  }

  static func ranges(of input: [UInt8]) -> [Range<Int>] {
    input.split(separator: UInt8(ascii: "\n")).filter { line in
      line.contains { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\t") }
    }.map(\.indices)
  }

  var hasLines: Bool { ending == nil && (next < lineCount || !returned.isEmpty) }
  var isIdle: Bool { running.isEmpty && reserved == 0 }

  /// Requires the runner's lock.
  func takeLine() -> Int? {
    guard hasLines else { return nil }
    reserved += 1
    if let index = returned.popLast() { return index }
    defer { next += 1 }
    return next
  }

  /// Requires the runner's lock. The lines that have not been started.
  var left: [Int] { returned + (next..<lineCount) }

  /// Requires the runner's lock. Whether the line is the first with this id; one that is started again keeps its id.
  func isFirst(_ index: Int, with id: String) -> Bool {
    if let first = firstLine[id] { return first == index }
    firstLine[id] = index
    return true
  }

  /// Requires the runner's lock. It has ended, and its input is no longer needed.
  func freeInput() { input = [] }

  /// A line as a request of its client.
  func request(_ index: Int) throws -> (customID: String, request: HTTPRequest) {
    let value: JSONValue
    do {
      value = try JSONValue.parse(Array(input[lines[index]]), limits: FieldReader.limits)
    } catch {
      throw LineError(id: nil, "line \(index + 1) is not valid JSON: \(error.message)")
    }
    guard let id = value["custom_id"]?.stringValue, (1...512).contains(id.utf8.count) else {
      throw LineError(id: nil, "line \(index + 1) has no custom_id of at most 512 bytes")
    }
    let path: String
    switch kind {
    case .anthropic: path = "/v1/messages"
    case .openAI(let endpoint, _):
      path = endpoint
      guard value["method"]?.stringValue == "POST", value["url"]?.stringValue == endpoint else {
        throw LineError(id: id, "method must be POST, and url \(endpoint), as the batch says")
      }
    }
    guard let members = value[kind == .anthropic ? "params" : "body"]?.objectValue else {
      throw LineError(id: id, "the line has no object called \(kind == .anthropic ? "params" : "body")")
    }
    for field in ["stream", "background"] where members.contains(where: { $0.key == field && $0.value == .bool(true) })
    {
      throw LineError(id: id, "\(field) is true; a batch returns only complete answers")
    }
    var request = HTTPRequest(method: "POST", path: path, headers: headers)
    request.body = Array(JSONValue.object(members).text.utf8)
    request.headers += [
      HTTPHeader("content-type", "application/json"), HTTPHeader("content-length", String(request.body.count)),
    ]
    request.isBatch = true
    return (id, request)
  }

  struct LineError: Error {
    var id: String?
    var message: String

    init(id: String?, _ message: String) {
      self.id = id
      self.message = message
    }
  }
}
