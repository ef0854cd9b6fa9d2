// JSON keeps its order when written and its numbers when read.
import PagodaKit
import Testing

@Suite struct JSONValueTests {
  @Test func members_keep_their_order() {
    #expect(
      JSONValue.object(["b": .integer(1), "a": .array([.null, .bool(true)])]).text == #"{"b":1,"a":[null,true]}"#)
  }

  @Test func strings_are_escaped() {
    #expect(JSONValue.string("a\"\\\n\r\t\u{1}é👍").text == #""a\"\\\n\r\t\u0001é👍""#)
    #expect(
      JSONValue.parse(JSONValue.string("a\"\\\n\r\t\u{1}é👍\u{2028}").text)?.stringValue == "a\"\\\n\r\t\u{1}é👍\u{2028}")
  }

  @Test func numbers_keep_their_kind() {
    #expect(JSONValue.parse("5") == .integer(5))
    #expect(JSONValue.parse("5.5") == .number(5.5))
    #expect(JSONValue.parse("true") == .bool(true))
    #expect(JSONValue.parse("18446744073709551615") == .unsigned(.max))
    #expect(JSONValue.parse("-0") == .integer(0))
    #expect(JSONValue.parse("-17") == .integer(-17))
    for value in [999_999_999_999_999_999, -999_999_999_999_999_999, Int64.max, .min] {  // 18 digits and more
      #expect(JSONValue.parse("\(value)") == .integer(value))
    }
    #expect(JSONValue.parse("1e3") == .number(1000))
    #expect(JSONValue.parse(#""\b\f\t\"\\""#) == .string("\u{8}\u{C}\t\"\\"))
    #expect(JSONValue.parse("5.0")?.intValue == 5)
    #expect(JSONValue.parse("5.5")?.intValue == nil)
    #expect(JSONValue.number(.infinity).text == "null")
  }

  @Test(arguments: [
    "", "{", "[1", "nul", "{\"a\":}", "\"\u{1}\"",
    // Ambiguous: other parsers accept these, each in its own way.
    #"{"a":1,"a":1}"#, #"{"a":{"b":1,"\u0062":2}}"#, #""\ud800""#, #""\udc00\ud800""#, "1e400", "-1e400", "NaN",
    "Infinity", "01", "1.", ".5", "+1", "1e", "[1,]", "{\"a\":1,}", "[1] 2", "'a'", "// x\n1", #""\x""#, #""\u12""#,
  ])
  func invalid_and_ambiguous_json_is_refused(_ text: String) { #expect(JSONValue.parse(text) == nil) }

  @Test func members_keep_their_order_when_read() {
    let text = #"{"b":[1,{"z":null,"a":"x"}],"a":-0.5,"":true}"#
    #expect(JSONValue.parse(text)?.text == text)
  }

  @Test func escapes_are_read_and_broken_bytes_refused() {
    #expect(JSONValue.parse(#""\u0000""#) == .string("\0"))
    #expect(JSONValue.parse(#""\ud83d\udc4d\n\/""#) == .string("👍\n/"))
    #expect(throws: JSONValue.ParseError.self) { try JSONValue.parse([0x22, 0xFF, 0x22]) }
  }

  @Test func depth_is_limited() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(JSONValue.parse(nested(JSONValue.maximumDepth)) != nil)
    #expect(JSONValue.parse(nested(JSONValue.maximumDepth + 1)) == nil)
    #expect(JSONValue.parse(String(repeating: "{\"a\":", count: 100_000)) == nil)
  }
}
