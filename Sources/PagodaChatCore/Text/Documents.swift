// Documents: the text of PDF files and of web pages, for attachments.
import Foundation

#if canImport(PDFKit)
import PDFKit
#endif
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Reads PDF files.
public protocol PDFReader: Sendable {
  /// The text of each page; nil if the data is not a PDF file that can be read.
  func pages(_ data: Data) -> [String]?
}

/// PDFKit on Apple systems; elsewhere no PDF file can be read.
public struct SystemPDFReader: PDFReader {
  /// The system's.
  public init() {}

  /// The text of each page.
  public func pages(_ data: Data) -> [String]? {
    #if canImport(PDFKit)
    guard let document = PDFDocument(data: data), !document.isLocked else { return nil }
    return (0..<document.pageCount).map { document.page(at: $0)?.string ?? "" }
    #else
    return nil
    #endif
  }
}

/// Fetches web pages.
public protocol PageFetcher: Sendable {
  /// The content at an address, and its media type.
  func fetch(_ url: URL) async throws -> (data: Data, type: String)
}

/// Fetches over the network, without cookies.
public struct SystemPageFetcher: PageFetcher {
  /// The system's.
  public init() {}

  /// The content at an address. Throws if the server reports an error.
  public func fetch(_ url: URL) async throws -> (data: Data, type: String) {
    let session = URLSession(configuration: .ephemeral)
    defer { session.finishTasksAndInvalidate() }
    let (data, response) = try await session.data(for: URLRequest(url: url, timeoutInterval: 30))
    if let http = response as? HTTPURLResponse, !(200...299).contains(http.statusCode) {
      throw ChatFailure("\(url.absoluteString) cannot be attached", cause: "The server answers \(http.statusCode).")
    }
    return (data, response.mimeType ?? "text/html")
  }
}

extension Attachment {
  /// Largest PDF file or web page; the text in it may have ``maximumBytes``.
  public static let maximumDocumentBytes = 64 << 20

  /// The text of a PDF file, page by page.
  init(name: String, pdf data: Data, reader: any PDFReader) throws {
    guard let pages = reader.pages(data) else {
      throw ChatFailure("\(name) cannot be attached", cause: "It is no PDF file that this system can read.")
    }
    let texts = pages.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    guard texts.contains(where: { !$0.isEmpty }) else {
      throw ChatFailure(
        "\(name) cannot be attached", cause: "It has no text, only pictures of pages.",
        advice: "Attach a page as an image.")
    }
    let numbered = texts.enumerated().filter { !$0.element.isEmpty }.map { "[page \($0.offset + 1)]\n\($0.element)" }
    try self.init(name: name, limited: numbered.joined(separator: "\n\n"))
  }

  /// The readable text of a web page.
  init(name: String, html data: Data) throws {
    let page = WebPage(html: String(decoding: data, as: UTF8.self))
    guard !page.text.isEmpty else {
      throw ChatFailure("\(name) cannot be attached", cause: "It has no text without its scripts.")
    }
    try self.init(name: page.title.isEmpty ? name : page.title, limited: page.text)
  }

  private init(name: String, limited text: String) throws {
    guard text.utf8.count <= Self.maximumBytes else {
      throw ChatFailure(
        "\(name) cannot be attached",
        cause: "Its text has \(text.utf8.count) bytes; at most \(Self.maximumBytes) are allowed.",
        advice: "Attach the part that matters.")
    }
    self.init(name: name, text: text)
  }
}

extension ComposerModel {
  /// Attaches the text of a web page or of a PDF file at an address. False, with a failure, if it cannot be read.
  @discardableResult
  public func attachPage(
    _ address: String, fetcher: any PageFetcher = SystemPageFetcher(), pdf: any PDFReader = SystemPDFReader()
  ) async -> Bool {
    failure = nil
    let text = address.trimmingCharacters(in: .whitespacesAndNewlines)
    guard let url = URL(string: text.contains("://") ? text : "https://\(text)"), url.host()?.contains(".") == true,
      ["http", "https"].contains(url.scheme ?? "")
    else {
      failure = ChatFailure("\(text) cannot be attached", cause: "It is no address of a web page.")
      return false
    }
    do {
      let (data, type) = try await fetcher.fetch(url)
      let name = url.absoluteString
      if data.count > Attachment.maximumDocumentBytes {
        throw ChatFailure("\(name) cannot be attached", cause: "It is too large.")
      }
      switch type {
      case "application/pdf": add(try Attachment(name: name, pdf: data, reader: pdf))
      case "text/html", "application/xhtml+xml": add(try Attachment(name: name, html: data))
      case let type where type.hasPrefix("text/"):
        add(Attachment(name: name, text: String(decoding: data, as: UTF8.self)))
      default: throw ChatFailure("\(name) cannot be attached", cause: "It is not a text but \(type).")
      }
    } catch {
      failure = error as? ChatFailure ?? ChatFailure("\(text) cannot be attached", error)
    }
    return failure == nil
  }
}
