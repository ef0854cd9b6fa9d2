// What Mac users expect of any app: keys of text fields, windows that come back, scrolling, and work in the background.
import Foundation
import PagodaKit
import Testing

@testable import PagodaChatCore

@MainActor @Suite struct MacHabitsTests {
  /// Shortcuts that text fields and every app's menus have.
  private static let taken: Set<String> = [
    "⌘A", "⌘C", "⌘E", "⌘G", "⌘H", "⌘J", "⌘M", "⌘O", "⌘P", "⌘Q", "⌘S", "⌘V", "⌘W", "⌘X", "⌘Z", "⌘,", "⌘⌫", "⌥⌫",
    "⇧⌘Z", "⇧⌘G", "⇧⌘V", "⌥⌘F", "⌥⌘H", "⌥⌘W",
  ]

  @Test func no_shortcut_is_one_of_the_system() {
    for shortcut in KeyboardMap.all { #expect(!Self.taken.contains(shortcut.keys), "\(shortcut)") }
    #expect(Set(KeyboardMap.all.map(\.keys)).count == KeyboardMap.all.count)
  }

  @Test func a_window_that_is_opened_again_shows_the_same_chat() async throws {
    try await withFolder { folder in
      let app = try AppModel(folder: folder, loader: ScriptedLoader(), downloader: ScriptedDownloader())
      await app.start()
      let first = app.claimWindow()
      app.windowOpened(first)
      for text in ["one", "two"] {
        app.newChat(in: first)
        first.transcript?.send(text)
      }
      let older = try #require(first.hits.last?.id)
      first.selection = older
      app.windowClosed(first)
      let again = app.claimWindow()
      #expect(again === first && again.selection == older)
      app.windowOpened(again)

      let second = app.claimWindow()
      second.selection = older
      app.windowClosed(second)
      #expect(app.claimWindow().selection == older)
    }
  }

  @Test func scrolling_up_is_possible_while_tokens_arrive() {
    let follower = ScrollFollower()
    follower.endAppeared()
    #expect(follower.contentGrew())
    follower.userBegan()  // before the view has scrolled to the new end
    follower.endDisappeared()
    #expect(!follower.contentGrew() && !follower.isFollowing)
    follower.userEnded()
    #expect(!follower.contentGrew())
    follower.userBegan()
    follower.endAppeared()
    #expect(!follower.contentGrew())  // the finger is still on the trackpad
    follower.userEnded()
    #expect(follower.contentGrew())
  }

  @Test func a_chat_is_not_rendered_for_sharing_while_an_answer_arrives() async throws {
    try await withFolder { folder in
      let loader = ScriptedLoader()
      let app = try AppModel(folder: folder, loader: loader, downloader: ScriptedDownloader())
      await app.start()
      app.newChat()
      let transcript = try #require(app.conversations.transcript)
      #expect(!transcript.canShare)
      transcript.send("Hello")
      #expect(!transcript.canShare && transcript.shareText.isEmpty)
      loader.engine.say("Hi.")
      #expect(await eventually { !transcript.isAnswering })
      #expect(transcript.canShare && transcript.shareText.contains("Hi."))
    }
  }

  @Test(arguments: [nil, false, true] as [Bool?])
  func the_switch_shows_what_the_model_does_by_default(_ byDefault: Bool?) async throws {
    try await withFolder { folder in
      let engines = EngineModel(loader: ScriptedLoader(engine: ScriptedEngine(thinksByDefault: byDefault)))
      let transcript = TranscriptModel(Conversation(), store: try ConversationStore(folder: folder), engines: engines)
      #expect(!transcript.canThink)
      await engines.load(.mini, named: "model")
      #expect(transcript.canThink == (byDefault != nil) && transcript.thinks == (byDefault ?? false))
      transcript.thinks = !(byDefault ?? false)
      #expect(transcript.settings.thinking == !(byDefault ?? false) && transcript.thinks == !(byDefault ?? false))
      await engines.unload()
      #expect(!transcript.canThink)
    }
  }

  @Test func the_embedded_model_says_whether_it_thinks() async throws {
    let engine = try await EngineLoader().load(.mini, LoadSettings()) { _ in }
    #expect(engine.thinksByDefault == false)
    await engine.shutDown()
  }

  private final class CountedActivities: Activities {
    let running = Locked(0)
    func begin(_ reason: String) -> any Sendable {
      running.withLock { $0 += 1 }
      return reason
    }
    func end(_ activity: any Sendable) { running.withLock { $0 -= 1 } }
  }

  @Test func a_server_is_not_slowed_down_while_no_window_is_visible() async throws {
    let engines = EngineModel(loader: EngineLoader())
    await engines.load(.mini, named: "mini")
    let activities = CountedActivities()
    let server = ServerModel(engines: engines, activities: activities)
    for _ in 0..<2 {
      server.turnOn(port: 0)
      #expect(server.isOn && activities.running.withLock { $0 } == 1)
      await server.turnOff()
      #expect(activities.running.withLock { $0 } == 0)
    }
    await server.turnOff()
    #expect(activities.running.withLock { $0 } == 0)
    await engines.unload()
  }
}
