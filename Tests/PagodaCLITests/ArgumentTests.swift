// The argument parser: spellings, refusals, ranges, sizes.
import PagodaCLI
import PagodaKit
import Testing

@Suite struct ArgumentTests {
  private let options = [
    Option("model", short: "m", value: "DIR", help: ""), Option("json", help: ""),
    Option("stop", value: "TEXT", help: ""),
    Option("count", value: "N", help: ""),
  ]

  private func parse(_ words: String...) throws -> Arguments { try Arguments(words, options: options) }

  @Test func every_spelling_gives_the_same() throws {
    for words in [["--model", "a"], ["--model=a"], ["-m", "a"], ["-ma"]] {
      #expect(try Arguments(words, options: options).string("model") == "a")
    }
    #expect(try parse("--model=").string("model") == "")
    #expect(try parse("--model=a=b").string("model") == "a=b")
    #expect(try parse("--json").has("json"))
  }

  @Test func two_dashes_end_the_options() throws {
    let arguments = try parse("x", "--", "--json", "-m")
    #expect(arguments.positionals == ["x", "--json", "-m"])
    #expect(!arguments.has("json"))
  }

  @Test func numbers_and_a_dash_are_plain_arguments() throws {
    #expect(try parse("-5", "-").positionals == ["-5", "-"])
    #expect(try parse("--count", "-5").string("count") == "-5")
  }

  @Test func repeated_options_keep_all_values_and_the_last_counts() throws {
    let arguments = try parse("--stop", "a", "--stop=b")
    #expect(arguments.values["stop"] == ["a", "b"])
    #expect(arguments.string("stop") == "b")
  }

  @Test func mistakes_are_named() {
    let cases: [([String], String)] = [
      (["--modle", "a"], "unknown option --modle; did you mean --model?"), (["-x"], "unknown option -x"),
      (["--model"], "option --model needs a value"), (["--model", "--json"], "option --model needs a value"),
      (["--json=1"], "option --json takes no value"),
    ]
    for (words, message) in cases {
      #expect(throws: UsageError(message)) { try Arguments(words, options: options) }
    }
  }

  @Test func whole_numbers_are_checked() throws {
    #expect(try parse("--count", "5").integer("count", in: 1...9) == 5)
    #expect(try parse().integer("count", in: 1...9) == nil)
    for bad in ["0", "10", "5.5", "five", "", "99999999999999999999"] {
      #expect(throws: UsageError.self, "\(bad)") { try parse("--count=\(bad)").integer("count", in: 1...9) }
    }
  }

  @Test func sizes_have_units() {
    #expect(parseBytes("1024") == 1024)
    #expect(parseBytes("512MiB") == 512 << 20)
    #expect(parseBytes("2GB") == 2_000_000_000)
    #expect(parseBytes("1.5 gib") == 3 << 29)
    for bad in ["", "MiB", "5 apples", "-1", "1e9", "99999999TiB"] { #expect(parseBytes(bad) == nil, "\(bad)") }
  }

  @Test func sizes_read_back() {
    #expect(readable(bytes: 512) == "512 bytes")
    #expect(readable(bytes: 1536) == "1.50 KiB")
    #expect(readable(bytes: 19 << 20) == "19.0 MiB")
    var load = LoadSummary()
    (load.weightsBytes, load.seconds) = (5 << 29, 1.94)
    #expect(loadText("qwen3.5:4b", load) == "loaded qwen3.5:4b, 2.50 GiB of weights in 1.9 s")
  }

  @Test func every_command_is_described() {
    for command in Command.all {
      #expect(command.summary.hasSuffix("."))
      let names = command.options.map(\.name)
      #expect(Set(names).count == names.count, "\(command.name) has an option twice")
      let letters = command.options.compactMap(\.short)
      #expect(Set(letters).count == letters.count, "\(command.name) has a letter twice")
      for option in command.options { #expect(!option.help.isEmpty, "--\(option.name)") }
    }
  }

  @Test func errors_about_fields_of_the_core_name_options() throws {
    let options = Set(Command.all.flatMap { $0.options.map { "--" + $0.name } })
    for (field, flag) in FieldNames.flags.names { #expect(options.contains(flag), "\(field) is no option \(flag)") }
    for (given, message) in [
      (["--max-model-len", "100000000"], "--max-model-len 100000000 is more"),
      (["--kv-cache-memory", "5"], "--kv-cache-memory of 5 bytes is less"),
    ] {
      let refused = try Program.run(["info"] + given)
      #expect(refused.status == 1 && refused.errors.contains(message), "\(refused.errors)")
    }
  }
}
