// Documents as attachments, and chats as files: PDF, web pages, import and export, and the server's panel.
import Foundation
import PagodaKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@testable import PagodaChatCore

private struct ScriptedPDF: PDFReader {
  var pages: [String]?
  func pages(_ data: Data) -> [String]? { pages }
}

private struct ScriptedPages: PageFetcher {
  var type = "text/html"
  func fetch(_ url: URL) async throws -> (data: Data, type: String) {
    if url.host() == "down.example" { throw ChatFailure("x", cause: "The server answers 503.") }
    return (Data("<title>A &amp; B</title><p>Hello <b>there</b></p>".utf8), type)
  }
}

@MainActor @Suite struct DocumentTests {
  @Test func a_page_is_read_without_its_menus_and_scripts() {
    let page = WebPage(
      html: """
        <!DOCTYPE html><html><head><TITLE>Tea &#38; coffee
        today</TITLE><style>p { color: red }</style><script>if (1 < 2) { x("<p>never</p>") }</script></head>
        <body><nav><a href="/">Home</a></nav><!-- a comment <p>never</p> -->
        <h1>Tea</h1><p>Black   tea,<br>green&nbsp;tea &mdash; caf&eacute; &unknown; &#x41;</p>
        <ul><li>one</li><li>two</li></ul><footer>Imprint</footer> 1 < 2 and 3 > 2
        """)
    #expect(page.title == "Tea & coffee today")
    #expect(
      page.text.hasPrefix("## Tea\nBlack tea,\ngreen tea — café &unknown; A\n- one\n- two"), "\(page.text)")
    #expect(!page.text.contains("Imprint") && !page.text.contains("never") && !page.text.contains("Home"))
    #expect(WebPage(html: "plain <unclosed").text == "plain" && WebPage(html: "<script>x").text.isEmpty)
  }

  @Test func pages_and_documents_are_attached() async throws {
    let composer = ComposerModel()
    #expect(await composer.attachPage("example.com/tea", fetcher: ScriptedPages()))
    #expect(composer.attachments.map(\.name) == ["A & B"] && composer.attachments[0].text == "Hello there")
    for (address, type) in [("not an address", "text/html"), ("down.example", "text/html"), ("a.example", "video/mp4")]
    {
      #expect(await !composer.attachPage(address, fetcher: ScriptedPages(type: type)) && composer.failure != nil)
    }
    let reader = ScriptedPDF(pages: ["First", " ", "Third"])
    #expect(await composer.attachPage("a.example", fetcher: ScriptedPages(type: "application/pdf"), pdf: reader))
    #expect(composer.attachments.last?.text == "[page 1]\nFirst\n\n[page 3]\nThird")
  }

  @Test func files_of_documents_are_read() async throws {
    try await withFolder { folder in
      let (pdf, html) = (folder.appending(path: "a.pdf"), folder.appending(path: "b.html"))
      try Data("%PDF-1.7".utf8).write(to: pdf)
      try Data("<p>Hi</p>".utf8).write(to: html)
      #expect(try Attachment(contentsOf: pdf, pdf: ScriptedPDF(pages: ["Text"])).text == "[page 1]\nText")
      #expect(throws: ChatFailure.self) { try Attachment(contentsOf: pdf, pdf: ScriptedPDF(pages: ["", ""])) }
      #expect(throws: ChatFailure.self) { try Attachment(contentsOf: pdf, pdf: ScriptedPDF(pages: nil)) }
      #expect(try Attachment(contentsOf: html).text == "Hi")
    }
  }

  @Test func chats_are_exported_and_imported() async throws {
    try await withFolder { folder in
      let loader = ScriptedLoader()
      let app = try AppModel(folder: folder, loader: loader, downloader: ScriptedDownloader())
      await app.start()
      app.newChat()
      let transcript = try #require(app.conversations.transcript)
      transcript.send("Hello")
      loader.engine.say("Hi.")
      #expect(await eventually { !transcript.isAnswering })
      transcript.regenerate()
      loader.engine.say("Hello!")
      #expect(await eventually { !transcript.isAnswering })
      for text in [try app.exportAllChats(), try transcript.export(.json)] {
        let before = app.conversations.hits.count
        #expect(app.importChats(Data(text.utf8)) == 1)
        #expect(app.conversations.hits.count == before + 1)
        let copy = try #require(app.conversations.transcript)
        #expect(copy.id != transcript.id && copy.messages.map(\.text) == ["Hello", "Hello!"])
        let last = try #require(copy.messages.last)
        #expect(copy.alternative(of: last.id)?.count == 2)
      }
      #expect(app.importChats(Data("{}".utf8)) == 0 && app.conversations.failure != nil)
    }
  }

  @Test func other_machines_need_a_key() async throws {
    let engines = EngineModel(loader: EngineLoader())
    await engines.load(.mini, named: "mini")
    #expect(try #require(engines.memoryBytes) > 1 << 20)
    let server = ServerModel(engines: engines)
    server.turnOn(port: 0, onNetwork: true)
    #expect(!server.isOn && server.failure?.cause.contains("key") == true)
    let key = ServerModel.newKey()
    #expect(key.count > 24 && key != ServerModel.newKey())
    server.turnOn(port: 0, onNetwork: true, key: key)
    let url = try #require(server.url, "\(String(describing: server.failure))")
    let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
    let models = try #require(URL(string: "http://127.0.0.1:\(port)/v1/models"))
    var request = URLRequest(url: models)
    #expect((try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode == 401)
    request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization")
    #expect((try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode == 200)
    #expect(await eventually { server.log.count >= 2 })
    #expect(!server.log.joined().contains(key))
    await server.turnOff()
    await engines.unload()
    #expect(engines.memoryBytes == nil)
  }
}
