// Images in the app: dropped, chosen or pasted, sent before the text, kept with the message, and refused by name.
import Foundation
import PagodaKit
import Testing

@testable import PagodaChatCore

@MainActor @Suite struct ImageTests {
  private static let images = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/images")

  private func withTranscript(_ body: (TranscriptModel, ScriptedLoader, AppModel) async throws -> Void) async throws {
    let loader = ScriptedLoader()
    try await withFolder { folder in
      let app = try AppModel(folder: folder, loader: loader, downloader: ScriptedDownloader())
      await app.start()
      app.newChat()
      try await body(try #require(app.conversations.transcript), loader, app)
    }
  }

  @Test func attached_images_are_sent_and_stay_with_the_message() async throws {
    try await withTranscript { transcript, loader, app in
      let file = Self.images.appending(path: "plain.jpg")
      #expect(!transcript.composer.canSend(in: transcript))
      #expect(transcript.composer.attach([file]) && transcript.composer.failure == nil)
      #expect(transcript.composer.canSend(in: transcript))  // an image alone is a message
      let pasted = try Data(contentsOf: Self.images.appending(path: "rgb.png"))
      #expect(transcript.composer.paste(pasted))
      transcript.composer.text = "What is this?"
      transcript.composer.send(in: transcript)
      let sent = try #require(loader.engine.lastMessages.first)
      #expect(sent.images.map(\.data) == [try Data(contentsOf: file), pasted] && sent.content == "What is this?")
      #expect(transcript.composer.attachments.isEmpty)
      loader.engine.say("A town.")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.shareText.contains("[image plain.jpg]"))
      let reopened = TranscriptModel(
        transcript.conversation, store: app.conversations.pool.store, engines: app.engines)
      #expect(reopened.messages.first?.attachments?.map(\.name) == ["plain.jpg", "Image 2"])
      #expect(reopened.messages.first?.prompt == sent)
    }
  }

  @Test func an_image_without_text_names_the_chat() async throws {
    try await withTranscript { transcript, loader, _ in
      transcript.composer.attach([Self.images.appending(path: "alpha.webp")])
      transcript.composer.send(in: transcript)
      #expect(loader.engine.lastMessages.first?.images.count == 1 && loader.engine.lastMessages.first?.content == "")
      #expect(transcript.conversation.title == "alpha.webp")
    }
  }

  @Test func files_that_are_no_images_are_refused_by_name() throws {
    let composer = ComposerModel()
    let broken = Self.images.appending(path: "refused/bomb.png")
    #expect(!composer.attach([broken]) && composer.failure?.title.contains("bomb.png") == true)
    #expect(composer.failure?.cause.contains("the limit is") == true)
    #expect(!composer.paste(Data("words".utf8)) && composer.failure != nil)
    #expect(composer.attachments.isEmpty)
  }

  @Test func thumbnails_show_the_whole_image_within_a_square() throws {
    let size = { (name: String) in
      try Attachment(contentsOf: Self.images.appending(path: name)).thumbnailSize
    }
    #expect(try size("large.png") == ThumbnailSize(width: 96, height: 72))  // 640 x 480
    #expect(try size("plain.jpg") == ThumbnailSize(width: 24, height: 24))  // 21 x 13: not enlarged beyond a minimum
    #expect(Attachment(name: "a.txt", text: "x").thumbnailSize == nil)
    #expect(Attachment(name: "a.txt", text: "x").spokenLabel == "File a.txt")
    let turned = try Attachment(contentsOf: Self.images.appending(path: "turned_6.jpg"))
    #expect(turned.spokenLabel == "Image turned_6.jpg, 13 by 21 pixels")
  }

  /// Chats saved before there were images have attachments without that key.
  @Test func attachments_of_earlier_versions_open() throws {
    let old = #"{"id":"6B0E6E1E-7B0C-4E0B-9B57-0E3F0F0A0001","name":"a.txt","text":"x"}"#
    let read = try JSONDecoder().decode(Attachment.self, from: Data(old.utf8))
    #expect(read.name == "a.txt" && read.text == "x" && read.image == nil)
  }
}
