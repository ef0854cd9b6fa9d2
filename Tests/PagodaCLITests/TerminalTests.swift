// The terminal's output and input: widths, wrapping, keys, editing, suggestions.
import Foundation
import PagodaCLI
import PagodaKit
import Testing

@Suite struct TerminalTests {
  @Test func characters_take_the_columns_that_terminals_give_them() {
    for (text, width) in [("abc", 3), ("Zoë", 3), ("東京", 4), ("👩‍👩‍👧", 2), ("e\u{301}", 1), ("❤️", 2), ("한글", 4), ("", 0)] {
      #expect(columnWidth(of: text) == width, "\(text)")
    }
    #expect(clipped("progress", to: 5) == "prog…" && clipped("東京都", to: 4) == "東…" && clipped("ab", to: 2) == "ab")
  }

  @Test func progress_never_takes_more_than_a_line() {
    for width in 1...200 {
      let line = progressText(
        "Qwen/Qwen3.5-27B-Instruct-long-name", 0.5, "1.00 GiB of 2.00 GiB, 3.0 MiB/s, 5:41 left", width: width)
      #expect(columnWidth(of: line) <= width, "\(width): \(line)")
    }
    #expect(progressText("a", 0.5, "", width: 80).contains("█░"))
  }

  @Test func words_are_wrapped_whole_however_the_text_comes() {
    let text = "The quick brown fox jumps over the lazy dog, and then it does so again."
    let expected = "The quick brown fox\njumps over the lazy\ndog, and then it\ndoes so again."
    for size in 1...text.count {
      var wrap = WordWrap(width: 19)
      var out = ""
      var rest = Substring(text)
      while !rest.isEmpty {
        out += wrap.add(String(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      #expect(out + wrap.finish() == expected, "chunks of \(size)")
    }
    var code = WordWrap(width: 10)
    let fence = "```\nlet a = 1 + 2 + 3 + 4\n```\nand then on"
    #expect(code.add(fence) + code.finish() == "```\nlet a = 1 + 2 + 3 + 4\n```\nand then\non")
  }

  @Test func short_values_stay_beside_their_names_in_a_narrow_terminal() {
    let rows = [("  device limit", "21.2 GiB"), ("  fits", "16 sequences at once, 8192 tokens each")]
    let text = columns(rows, width: 30)
    #expect(text == "  device limit  21.2 GiB\n  fits\n      16 sequences at once,\n      8192 tokens each\n")
  }

  /// A command without its end could not be typed.
  @Test func commands_are_wrapped_and_not_cut_in_a_narrow_terminal() {
    let rows = [("  pagoda chat qwen3.5:0.8b --quantize 4bit", "1.02 GiB of 21.2 GiB")]
    let text = columns(rows, width: 30)
    #expect(text == "  pagoda chat qwen3.5:0.8b\n  --quantize 4bit\n      1.02 GiB of 21.2 GiB\n")
  }

  @Test func columns_of_notes_are_put_below_each_other_in_a_narrow_terminal() {
    let notes = "Commands of\na chat:\n  /read FILE  put a text file before the next message\n  /bye        leave"
    let text =
      "Commands of a chat:\n  /read FILE\n      put a text file before\n      the next message\n  /bye        leave"
    #expect(reflowed(notes, width: 30) == text)
  }

  /// A path that the program broke could not be copied from the terminal.
  @Test func words_longer_than_a_line_are_left_to_the_terminal() {
    let path = "/opt/shared/defaults/pagoda/config2.json"
    let text = "error in \(path) line 3: it is wrong"
    for width in 12...40 {
      #expect(wrapped(text, width: width).split(separator: "\n").contains { $0 == path }, "\(width)")
    }
    #expect(wrapped(text, width: 20) == "error in\n\(path)\nline 3: it is wrong")
    #expect(wrapped(text, width: 48) == "error in\n\(path) line 3:\nit is wrong")
    #expect(wrapped("東京東京東京東京東京東京", width: 11).split(separator: "\n").allSatisfy { columnWidth(of: $0) <= 11 })
  }

  @Test func help_fits_every_terminal() {
    for command in Command.all {
      for width in [60, 80, 120] {
        for line in command.help(width: width).split(separator: "\n") {
          #expect(columnWidth(of: line) <= width, "\(command.name) at \(width): \(line)")
        }
      }
    }
  }

  private func keys(_ bytes: [UInt8]) -> [Key] {
    let input = Box(bytes[...])
    var reader = KeyReader(next: { input.value.popFirst() }, isMore: { _ in !input.value.isEmpty })
    var out: [Key] = []
    while true {
      let key = reader.read()
      if key == .endOfInput { return out }
      out.append(key)
    }
  }

  private final class Box { var value: ArraySlice<UInt8>; init(_ value: ArraySlice<UInt8>) { self.value = value } }

  @Test func keys_are_read_from_bytes() {
    #expect(keys(Array("Zoë 東京 👩‍👩‍👧".utf8)) == [.text("Zoë 東京 👩‍👩‍👧")])
    #expect(
      keys(Array("a\u{1B}[D\u{1B}[C\u{1B}[1;5D\u{7F}\r".utf8)) == [
        .text("a"), .left, .right, .wordLeft, .backspace, .enter,
      ])
    #expect(keys(Array("\u{1B}[200~one\r\ntwo\rthree\u{1B}[201~x".utf8)) == [.paste("one\ntwo\nthree"), .text("x")])
    #expect(keys([0x03, 0x04, 0x1B]) == [.control("c"), .control("d"), .escape])
    #expect(keys([0xFF, 0x41]) == [.text("\u{FFFD}A")])
    #expect(keys([0xC3, 0x0D]) == [.text("\u{FFFD}"), .enter])
  }

  @Test func editing_moves_by_grapheme() {
    var buffer = LineBuffer("東京 👩‍👩‍👧 Zoë")
    #expect(buffer.cursor == 8)
    for _ in 0..<4 { buffer.moveLeft() }
    buffer.deleteBackward()
    #expect(buffer.text == "東京  Zoë")
    buffer.insert("é")
    #expect(buffer.text == "東京 é Zoë")
    buffer.set("e")
    buffer.insert("\u{301}")  // combines with the letter before it
    #expect(buffer.characters.count == 1 && buffer.cursor == 1)
    buffer.set("one two")
    buffer.killWord()
    #expect(buffer.text == "one ")
    buffer.yank()
    #expect(buffer.text == "one two")
  }

  @Test func wide_characters_wrap_as_a_whole() {
    let buffer = LineBuffer("東京東京a")
    let layout = buffer.layout(prompt: "> ", continuation: "  ", width: 7)
    #expect(layout.rows == ["> 東京", "東京a"] && layout.row == 1 && layout.column == 5)
    let lines = LineBuffer("a\nb\t").layout(prompt: "> ", continuation: "  ", width: 20)
    #expect(lines.rows == ["> a", "  b "] && lines.row == 1 && lines.column == 4)
    let full = LineBuffer("abcde").layout(prompt: "> ", continuation: "  ", width: 7)
    #expect(full.rows == ["> abcde", ""] && full.row == 1 && full.column == 0)
  }

  @Test func suggestions_are_near_or_absent() {
    let options = ["help", "temperature", "top-k", "max-tokens", "model"]
    #expect(suggestion(for: "temper", among: options) == "temperature")
    #expect(suggestion(for: "max-token", among: options) == "max-tokens")
    #expect(suggestion(for: "modle", among: options) == "model")
    #expect(suggestion(for: "temq", among: ["help"]) == nil)
    #expect(suggestion(for: "xyz", among: options) == nil)
  }

  @Test func colours_need_a_terminal_that_wants_them() {
    #expect(Style.allowsColour(isTerminal: true, ["TERM": "xterm"]))
    #expect(!Style.allowsColour(isTerminal: false, ["TERM": "xterm"]))
    #expect(!Style.allowsColour(isTerminal: true, ["TERM": "dumb"]))
    #expect(!Style.allowsColour(isTerminal: true, ["TERM": "xterm", "NO_COLOR": "1"]))
  }

  @Test func short_names_mean_models_of_the_hub() throws {
    #expect(try fullModelName("qwen3.5:4b") == "Qwen/Qwen3.5-4B")
    #expect(try fullModelName("Qwen3:30b-a3b") == "Qwen/Qwen3-30B-A3B")
    #expect(try fullModelName("qwen2.5:7b") == "Qwen/Qwen2.5-7B-Instruct")
    #expect(try fullModelName("org/name") == "org/name")
    #expect(throws: UsageError.self) { try fullModelName("qwen3.5:5b") }
  }

  @Test func defaults_yield_to_the_command_line() throws {
    var defaults = Defaults()
    defaults.file = try #require(
      JSONValue.parse(#"{"quantize": "4bit", "max_tokens": 7, "generate": {"temperature": 0.5}, "serve": {"port": 9}}"#)
    )
    defaults.environment = ["PAGODA_MAX_TOKENS": "9", "PAGODA_IGNORE_EOS": "true", "PAGODA_PROMPT": "never"]
    let command = try #require(Command.find(["generate"])?.command)
    var arguments = try Arguments(["--quantize", "8bit"], options: command.options)
    try defaults.apply(to: &arguments, of: command)
    #expect(arguments.string("quantize") == "8bit" && arguments.string("max-tokens") == "9")
    #expect(arguments.string("temperature") == "0.5" && arguments.has("ignore-eos") && !arguments.has("prompt"))
    defaults.environment["PAGODA_IGNORE_EOS"] = "perhaps"
    var others = try Arguments([], options: command.options)
    #expect(throws: UsageError.self) { try defaults.apply(to: &others, of: command) }
  }

  @Test func a_default_folder_for_prefixes_is_not_for_pipelines() throws {
    var defaults = Defaults()
    defaults.environment = ["PAGODA_PREFIX_CACHE_DIR": "/var/cache/pagoda"]
    let command = try #require(Command.find(["serve"])?.command)
    for (words, folder) in [
      ([], "/var/cache/pagoda"), (["--pipeline-stages", "10.0.0.2:9400"], nil), (["--pipeline"], nil),
      (["--pipeline", "--prefix-cache-dir", "here"], "here"),
    ] as [([String], String?)] {
      var arguments = try Arguments(words, options: command.options)
      try defaults.apply(to: &arguments, of: command)
      #expect(arguments.string("prefix-cache-dir") == folder, "\(words)")
    }
    defaults.environment["PAGODA_PIPELINE_STAGES"] = "10.0.0.2:9400"
    defaults.environment["PAGODA_PORT"] = "tcp://10.96.0.7:80"
    var arguments = try Arguments([], options: command.options)
    try defaults.apply(to: &arguments, of: command)
    #expect(!arguments.has("port"), "that one comes from Kubernetes, for a service called pagoda")
    #expect(!arguments.has("prefix-cache-dir") && arguments.has("pipeline-stages"))
  }

  @Test func readings_of_a_server_have_rates_and_fit() {
    var first = ServerReading(
      metrics:
        "# HELP x\nvllm:num_requests_running 3\nvllm:request_success_total{finished_reason=\"stop\"} 2\nvllm:request_success_total{finished_reason=\"length\"} 1\npagoda:engine_steps_total 10\n"
    )
    var second = first
    second.time = first.time.addingTimeInterval(2)
    second.values["pagoda:engine_steps_total"] = 50
    #expect(
      first["vllm:request_success_total"] == 3 && second.rate(of: "pagoda:engine_steps_total", since: first) == 20)
    first.values = [:]
    for width in [40, 80] {
      let lines = second.lines(since: first, rates: [1, 2, 3], url: "u", width: width).flatMap {
        wrapped($0, width: width).split(separator: "\n")
      }
      #expect(lines.allSatisfy { columnWidth(of: String($0)) <= width })
    }
    #expect(sparkline([0, 1, 2, 4]) == "▁▂▄█")
  }

  @Test func lanes_of_a_server_show_the_state_of_each_request_and_fit() throws {
    let states = ["waiting", "reading", "answering", "preempted"]
    let list = (0..<40).map {
      #"{"id":\#(40 - $0),"state":"\#(states[$0 % 4])","prompt":1000,"cached":\#($0 % 2 * 16),"computed":500,"generated":\#($0)}"#
    }
    let event =
      #"{"running":20,"waiting":20,"checkpoints":3,"max_checkpoints":12,"lanes":[\#(list.joined(separator: ","))]}"#
    let lanes = try #require(ServerLanes(event: event))
    for (width, rows) in [(80, 14), (40, 5), (120, 60)] {
      let lines = lanes.lines(width: width, rows: rows)
      #expect(lines.count <= max(rows, 5) && lines.allSatisfy { columnWidth(of: $0) <= width }, "\(width) \(rows)")
    }
    let all = lanes.lines(width: 100, rows: 60)
    #expect(all.count == 42 && all[0].contains("3 of 12"))
    #expect(all[2].hasPrefix("#1 ") && all[2].contains("preempted") && all[2].contains("preempted after 39 tokens"))
    #expect(all[4].contains("500 of 1000 tokens read, 16 cached"))
    #expect(lanes.lines(width: 80, rows: 14).last == "... and 29 more")
    #expect(ServerLanes(event: "{}") == nil && ServerLanes(event: "no JSON") == nil)
  }

  @Test func memory_is_drawn_to_scale() {
    let parts: [(name: String, shade: Character, bytes: Int64)] = [
      ("weights", "█", 400), ("KV cache", "▓", 200), ("states", "▒", 1), ("workspace", "▚", 0),
    ]
    let bar = memoryBar(parts, limit: 800, width: 80).split(separator: "\n")[0].dropFirst(2)
    #expect(bar.count == 76 && bar.count { $0 == "█" } == 38 && bar.count { $0 == "▓" } == 19 && bar.contains("▒"))
  }

  @Test func the_vision_tower_has_its_own_part_of_the_bar() {
    var plan = MemoryPlan()
    (plan.deviceLimitBytes, plan.weightsBytes, plan.visionBytes, plan.totalBytes) = (760, 300, 200, 500)
    let lines = memoryBar(plan, width: 80).split(separator: "\n")
    #expect(
      lines[0].count { $0 == "▞" } == 20 && lines[1].contains("▞ vision tower") && !lines[1].contains("host cache"))
    (plan.visionHostBytes, plan.totalBytes) = (150, 350)  // a device with dedicated memory
    #expect(memoryBar(plan, width: 80).split(separator: "\n")[0].count { $0 == "▞" } == 5)
    (plan.visionHostBytes, plan.totalBytes) = (200, 300)
    #expect(!memoryBar(plan, width: 80).contains("▞"))
  }
}
