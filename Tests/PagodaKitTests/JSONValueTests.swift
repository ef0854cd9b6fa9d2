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
    #expect(JSONValue.parse("5.0")?.intValue == 5)
    #expect(JSONValue.parse("5.5")?.intValue == nil)
    #expect(JSONValue.number(.infinity).text == "null")
  }

  @Test func what_is_not_json_is_refused() {
    for text in ["", "{", "[1", "nul", "{\"a\":}", "\"\u{1}\""] { #expect(JSONValue.parse(text) == nil, "\(text)") }
  }
}
