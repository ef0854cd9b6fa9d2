// Fuzzes the output parser: any bytes give the same segments however they are split, and complete arguments are JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "text/output/machine.h"
#include "text/unicode/unicode.h"

namespace {

using namespace pagoda;

constexpr const char* kTools =
    R"([{"name": "now"}, {"name": "f", "parameters": {"properties": {"s": {"type": "string"}, "i": {"type": "integer"},
    "n": {"type": ["string", "null"]}, "o": {"type": "object"}, "x": {}}}}])";

// The segments as text, adjacent ones merged.
struct Reader {
  std::string all, arguments;
  OutputSegmentKind last = OutputSegmentKind::tool_call_end;

  void take(const std::vector<OutputSegment>& segments, bool is_utf8) {
    for (const OutputSegment& segment : segments) {
      if (segment.kind != last || segment.kind > OutputSegmentKind::reasoning) {
        if (segment.kind != OutputSegmentKind::tool_arguments || last != segment.kind)
          all += "|" + std::to_string(static_cast<int>(segment.kind)) + ":" + std::to_string(segment.tool_index) + ":";
      }
      all += segment.tool_name + segment.text;
      last = segment.kind;
      if (segment.kind == OutputSegmentKind::tool_call_begin) arguments.clear();
      if (segment.kind == OutputSegmentKind::tool_arguments) arguments += segment.text;
      if (segment.kind == OutputSegmentKind::tool_call_end && is_utf8 && !io::parse_json(arguments).is_ok())
        std::abort();
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t stride = data[0] % 7 + 1;
  OutputParserOptions options;
  options.starts_in_reasoning = data[1] % 2 == 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const bool is_utf8 = text::find_invalid_utf8(text) == std::string_view::npos;
  auto tools = text::ToolList::parse(kTools);
  text::OutputMachine whole(options, *tools), cut(options, *tools);
  Reader expected, seen;
  expected.take(whole.push(text), is_utf8);
  expected.take(whole.finish(), is_utf8);
  for (size_t i = 0; i < text.size(); i += stride) seen.take(cut.push(text.substr(i, stride)), is_utf8);
  seen.take(cut.finish(), is_utf8);
  if (seen.all != expected.all) std::abort();
  return 0;
}
