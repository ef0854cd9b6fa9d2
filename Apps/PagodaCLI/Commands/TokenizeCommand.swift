// pagoda tokenize: text to token ids and back.
import PagodaKit

extension Command {
  static let tokenize = Command(
    name: "tokenize",
    summary: "Shows the token ids of a text, or the text of token ids.",
    operands: "[TEXT...]",
    notes:
      "Without arguments it reads all of standard input. Ids are separated by commas.\nThe token that a model puts before every text (Llama's <|begin_of_text|>) is not shown.",
    groups: [
      OptionGroup(
        "Options",
        [
          SharedOptions.model,
          Option("decode", short: "d", help: "the arguments are token ids; print their text"),
          Option("special", help: "recognise control tokens in the text, and show them when decoding"),
          Option("json", help: "print a JSON object"),
        ])
    ],
    run: runTokenize)
}

private func runTokenize(_ arguments: Arguments) async throws -> Int32 {
  let words = arguments.positionals.joined(separator: " ")
  let hint = "no text: pagoda tokenize \"...\", or pipe text in"
  let text = arguments.positionals.isEmpty ? try Terminal.readPipe(or: hint) : words
  let special = arguments.has("special")
  if arguments.has("decode") {
    let ids = try parseTokenIDs(text, of: "the arguments")
    let tokenizer = try await Tokenizer.load(arguments.modelSource())
    if let unknown = ids.first(where: { tokenizer.spelling(of: $0) == nil }) {
      throw CommandFailure("\(unknown) is not the id of a token")
    }
    let decoded = try tokenizer.decode(ids, skippingSpecialTokens: !special)
    Terminal.write((arguments.has("json") ? JSONValue.object(["text": .string(decoded)]).text : decoded) + "\n")
    return 0
  }
  let tokenizer = try await Tokenizer.load(arguments.modelSource())
  let ids = try tokenizer.encode(text, parsingSpecialTokens: special)
  guard arguments.has("json") else {
    Terminal.write(ids.map { String($0) }.joined(separator: ",") + "\n")
    return 0
  }
  let object = JSONValue.object([
    "ids": .array(ids.map { .integer(Int64($0)) }),
    "tokens": .array(ids.map { .string(tokenizer.spelling(of: $0) ?? "") }),
    "count": .integer(Int64(ids.count)),
  ])
  Terminal.write(object.text + "\n")
  return 0
}
