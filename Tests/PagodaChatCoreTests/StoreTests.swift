// The store: saved data survives reopening, a kill, a damaged byte and a format change.
import Foundation
import Testing

@testable import PagodaChatCore

@Suite struct StoreTests {
  private func fill(_ store: ConversationStore, _ count: Int, title: String = "a chat") throws -> Conversation {
    var conversation = Conversation(title: title)
    var messages: [ChatMessage] = []
    for index in 0..<count {
      messages.append(
        ChatMessage(
          conversationID: conversation.id, parentID: messages.last?.id, role: index % 2 == 0 ? .user : .assistant,
          text: "message \(index)"))
    }
    conversation.leafID = messages.last?.id
    try store.save(conversation, messages)
    return conversation
  }

  @Test func saved_conversations_exist_after_reopening() async throws {
    try await withFolder { folder in
      var saved = try fill(try ConversationStore(folder: folder), 3)
      saved.settings.temperature = 0.5
      do {
        let store = try ConversationStore(folder: folder)
        try store.save(saved)
        try store.remove(try fill(store, 2).id)
      }
      let store = try ConversationStore(folder: folder)
      #expect(store.conversations.map(\.id) == [saved.id])
      #expect(store.conversations[0].settings.temperature == 0.5)
      #expect(
        store.messages(of: saved.id).path(to: saved.leafID).map(\.text) == ["message 0", "message 1", "message 2"])
    }
  }

  /// Kills a writer at varying moments; each time everything it had reported is present, complete and in order.
  @Test func ten_thousand_messages_survive_kills_during_writes() async throws {
    try await withFolder { folder in
      do {
        let store = try ConversationStore(folder: folder)
        _ = try fill(store, 10_000, title: "written until killed")
      }
      var torn = 0
      for round in 0..<8 {
        let reported = try killedWriter(folder, afterMilliseconds: 60 + 35 * round)
        let bytes = try Data(contentsOf: folder.appending(path: "conversations.log"))
        if bytes.last != UInt8(ascii: "\n") { torn += 1 }
        let store = try ConversationStore(folder: folder)
        let conversation = try #require(store.conversations.first)
        let path = store.messages(of: conversation.id).all
        #expect(path.count >= 10_000 && path.count > reported, "round \(round): \(path.count), reported \(reported)")
        #expect(store.damagedRecords == 0)
        for (index, message) in path.enumerated() where !message.text.hasPrefix("message \(index)") {
          Issue.record("round \(round): message \(index) says \(message.text.prefix(20))")
          break
        }
      }
      print("kill test: \(torn) of 8 kills left a torn record")
    }
  }

  /// Runs the writer and kills it; returns the last index it reported.
  private func killedWriter(_ folder: URL, afterMilliseconds delay: Int) throws -> Int {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    let build = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    let writer = Process()
    let pipe = Pipe()
    writer.executableURL = build.appending(path: "ChatStoreWriter")
    writer.arguments = [folder.path]
    writer.standardOutput = pipe
    try writer.run()
    // The timer starts with the first report: opening the store takes time too.
    var output = pipe.fileHandleForReading.availableData
    Thread.sleep(forTimeInterval: Double(delay) / 1000)
    kill(writer.processIdentifier, SIGKILL)
    output += pipe.fileHandleForReading.readDataToEndOfFile()
    writer.waitUntilExit()
    #expect(writer.terminationReason == .uncaughtSignal)
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    return try #require(lines.dropLast().last.flatMap { Int($0) })
  }

  @Test func a_torn_end_is_cut_off_and_writing_continues() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "conversations.log")
      let conversation = try fill(try ConversationStore(folder: folder), 5)
      let whole = try Data(contentsOf: file)
      let lastRecord = try #require(whole.dropLast().lastIndex(of: UInt8(ascii: "\n"))) + 1
      for cut in stride(from: lastRecord, to: whole.count, by: 7) {
        try whole.prefix(cut).write(to: file)
        do {
          let store = try ConversationStore(folder: folder)
          #expect(store.messages(of: conversation.id).count == 4 && store.damagedRecords == 0, "cut at \(cut)")
          try store.save(ChatMessage(conversationID: conversation.id, parentID: nil, role: .user, text: "after"))
        }
        #expect(try ConversationStore(folder: folder).messages(of: conversation.id).count == 5, "cut at \(cut)")
      }
    }
  }

  @Test func a_damaged_record_costs_itself_alone_and_the_file_is_kept() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "conversations.log")
      let conversation = try fill(try ConversationStore(folder: folder), 5)
      var bytes = try Data(contentsOf: file)
      let offset = try #require(bytes.range(of: Data("message 2".utf8)))
      bytes[offset.lowerBound] ^= 1
      try bytes.write(to: file)
      let store = try ConversationStore(folder: folder)
      #expect(store.damagedRecords == 1)
      #expect(store.messages(of: conversation.id).count == 4)
      #expect(
        store.messages(of: conversation.id).path(to: conversation.leafID).map(\.text) == ["message 3", "message 4"])
      #expect(try Data(contentsOf: file.appendingPathExtension("old")) == bytes)
    }
  }

  @Test func a_list_of_version_1_becomes_a_path() async throws {
    try await withFolder { folder in
      let id = "5B2D0B5C-0000-4000-8000-00000000000"
      let message = { (number: Int, role: String) in
        #"{"message":{"_0":{"id":"\#(id)\#(number)","conversationID":"\#(id)0","role":"\#(role)","text":"m\#(number)","#
          + #""reasoning":"","state":{"complete":{}},"createdAt":\#(number)}}}"#
      }
      let conversation =
        #"{"conversation":{"_0":{"id":"\#(id)0","title":"old","createdAt":1,"updatedAt":2,"isPinned":false,"settings":"#
        + #"{"instructions":""}}}}"#
      let records = [#"{"header":{"version":1}}"#, conversation, message(1, "user"), message(2, "assistant")]
      let file = folder.appending(path: "conversations.log")
      try RecordLog.replace(file, with: records.map { Data($0.utf8) })
      for _ in 0..<2 {  // migrated, then read in the new format
        let store = try ConversationStore(folder: folder)
        let migrated = try #require(store.conversations.first)
        #expect(store.messages(of: migrated.id).path(to: migrated.leafID).map(\.text) == ["m1", "m2"])
      }
      #expect(FileManager.default.fileExists(atPath: file.appendingPathExtension("old").path))
    }
  }

  @Test func a_file_of_the_future_is_refused_and_left_alone() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "conversations.log")
      try RecordLog.replace(file, with: [Data(#"{"header":{"version":99}}"#.utf8)])
      let before = try Data(contentsOf: file)
      let error = #expect(throws: StoreError.self) { try ConversationStore(folder: folder) }
      #expect(error?.message.contains("newer version") == true && error?.message.contains("99") == true)
      #expect(try Data(contentsOf: file) == before)
    }
  }

  @Test func two_programs_cannot_write_one_store() async throws {
    try await withFolder { folder in
      let store = try ConversationStore(folder: folder)
      let error = #expect(throws: StoreError.self) { try ConversationStore(folder: folder) }
      #expect(error?.message.contains("in use") == true)
      _ = store
    }
  }

  /// Processes that are being started briefly hold copies of every descriptor; a copy simulates them here.
  @Test func a_copy_of_a_closed_stores_descriptor_does_not_hold_its_lock() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "records")
      var copies: [Int32] = []
      for _ in 0..<3 {
        let log = try RecordLog.replace(file, with: [Data("{}".utf8)])
        for descriptor in Int32(3)..<65_536 {  // tests beside may hold hundreds
          var (held, named) = (stat(), stat())
          guard fstat(descriptor, &held) == 0, stat(file.path, &named) == 0, held.st_ino == named.st_ino,
            held.st_dev == named.st_dev
          else { continue }
          copies.append(dup(descriptor))
          break
        }
        _ = withExtendedLifetime(log) {
          #expect(throws: StoreError.self) { try RecordLog(file) { _ in } }  // locked as soon as it has its name
        }
      }
      #expect(copies.count == 3)
      _ = try RecordLog(file) { _ in }
      copies.forEach { close($0) }
    }
  }

  @Test func records_replaced_often_do_not_fill_the_disk() async throws {
    try await withFolder { folder in
      let store = try ConversationStore(folder: folder)
      let conversation = try fill(store, 1)
      var message = try #require(store.messages(of: conversation.id).all.first)
      message.state = .streaming
      for index in 0..<5000 {
        message.text = "version \(index)"
        try store.save(message)
      }
      let size = try Data(contentsOf: store.url).count
      #expect(size < 700_000, "\(size) bytes")
      #expect(store.messages(of: conversation.id).all.map(\.text) == ["version 4999"])
    }
  }

  @Test func search_finds_words_whatever_their_case_and_accents() async throws {
    try await withFolder { folder in
      let store = try ConversationStore(folder: folder)
      let names = ["Zürich im Winter", "Paris", "Lisbon"]
      for name in names {
        let conversation = try fill(store, 2, title: name)
        try store.save(
          ChatMessage(conversationID: conversation.id, parentID: nil, role: .user, text: "Tell me of a café in \(name)")
        )
      }
      #expect(store.search("zurich").map(\.conversation.title) == ["Zürich im Winter"])
      #expect(store.search("CAFE lisbon").map(\.conversation.title) == ["Lisbon"])
      #expect(store.search("cafe").count == 3)
      #expect(store.search("cafe")[0].excerpt.contains("café"))
      #expect(store.search("tea").isEmpty)
      #expect(store.search(" ").count == 3)
    }
  }
}
