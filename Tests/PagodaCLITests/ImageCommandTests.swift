// Images on the command line: --image of generate and info, /image of a chat, with a tiny model that has a vision tower.
import Foundation
import PagodaKit
import Testing

@Suite(.serialized) struct ImageCommandTests {
  private let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
    path: "Fixtures")
  private var model: [String] {
    ["--model", fixtures.appending(path: "vision/chat").path, "--device", "cpu", "--max-model-len", "512"]
  }

  private func image(_ name: String) -> String { fixtures.appending(path: "images/\(name)").path }

  @Test func info_counts_the_tokens_of_images() throws {
    let run = try Program.run(["info"] + model + ["--image", image("plain.jpg"), "--image", image("turned_6.jpg")])
    #expect(run.status == 0 && run.output.contains("vision tower of"), "\(run.errors)")
    #expect(run.output.contains("21 x 13 pixels, 6 tokens") && run.output.contains("13 x 21 pixels, 6 tokens"))
    let json = JSONValue.parse(try Program.run(["info"] + model + ["--json", "--image", image("large.png")]).output)
    #expect(json?["reads_images"]?.boolValue == true)
    let facts = try #require(json?["images"]?.arrayValue?.first)
    #expect(facts["width"]?.intValue == 640 && facts["height"]?.intValue == 480)
    #expect(try #require(facts["tokens"]?.intValue) <= 64)
    let text = try Program.run("info", "mini", "--no-vision", "--image", image("plain.jpg"))
    #expect(text.status == 1 && text.errors.contains("reads text only"))
    #expect(try Program.run("info", "mini").output.contains("vision tower of 0.4 million parameters"))
  }

  @Test func limits_of_the_tower_are_options() throws {
    let plain = JSONValue.parse(try Program.run(["info"] + model + ["--json"]).output)
    let limits = ["--max-image-tokens", "16", "--image-cache-memory", "0", "--json", "--image", image("large.png")]
    let limited = JSONValue.parse(try Program.run(["info"] + model + limits).output)
    #expect(limited?["max_image_tokens"]?.intValue == 16)
    #expect(try #require(limited?["images"]?.arrayValue?.first?["tokens"]?.intValue) <= 16)
    let bytes = { (json: JSONValue?) in try #require(json?["memory_plan"]?["vision_bytes"]?.intValue) }
    #expect(try bytes(limited) < bytes(plain) - (200 << 20))
    let without = try Program.run(["info"] + model + ["--no-vision"])
    #expect(without.status == 0 && without.output.contains("no: the option vision is off"))
    let refused = try Program.run(["info"] + model + ["--max-image-tokens", "70000"])
    #expect(refused.status == 1 && refused.errors.contains("--max-image-tokens must be"), "\(refused.errors)")
  }

  @Test func generate_reads_images() throws {
    let question = ["--prompt", "What is this?", "--max-tokens", "2", "--json"]
    func usage(_ more: [String]) throws -> JSONValue? {
      let run = try Program.run(["generate"] + model + question + more)
      #expect(run.status == 0, "\(run.errors)")
      return JSONValue.parse(run.output)?["usage"]
    }
    let plain = try #require(try usage([])?["prompt_tokens"]?.intValue)
    let two = try usage(["--image", image("rgb.png"), "--image", image("alpha.webp")])
    #expect(two?["image_tokens"]?.intValue == 12 && two?["prompt_tokens"]?.intValue == plain + 2 * 8)
  }

  @Test func generate_refuses_what_it_cannot_read() throws {
    let cases: [([String], Int32, String)] = [
      (["generate", "--no-vision", "--prompt", "x", "--image", image("rgb.png")], 1, "reads no images"),
      (["generate", "--prompt", "x", "--image", image("refused/picture.gif")], 1, "GIF"),
      (["generate", "--prompt", "x", "--image", "/nowhere.png"], 1, "/nowhere.png"),
      (["generate", "--prompt", "x", "--raw", "--image", image("rgb.png")], 64, "--image needs the chat template"),
    ]
    for (arguments, status, words) in cases {
      let run = try Program.run(arguments)
      #expect(run.status == status && run.errors.contains(words), "\(arguments): \(run.status) \(run.errors)")
    }
  }

  @Test func a_chat_shows_saves_and_repeats_images() throws {
    try Program.withFolder { folder in
      let file = folder.appending(path: "chat.json").path
      let lines = ["/image \(image("rgb.png"))", "What is this?", "/retry", "/save \(file)", "/image nothing.png"]
      let run = try Program.run(
        ["chat"] + model + ["--max-tokens", "2", "--temperature", "0"], input: lines.joined(separator: "\n") + "\n")
      #expect(run.output.contains("21 x 13 pixels, 6 tokens"), "\(run.errors)")
      #expect(run.errors.contains("nothing.png"))
      let saved = try JSONDecoder().decode(Transcript.self, from: Data(contentsOf: URL(filePath: file)))
      #expect(saved.messages.count == 2 && saved.messages.first?.images.count == 1)
      #expect(saved.messages.first?.content == "What is this?")
    }
    let mini = try Program.run(["chat", "mini", "--no-vision"], input: "/image \(image("rgb.png"))\n")
    #expect(mini.errors.contains("reads no images"))
  }
}
