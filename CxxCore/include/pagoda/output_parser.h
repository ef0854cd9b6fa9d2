// OutputParser: splits the text of an answer into reasoning, text and tool calls while it arrives.
// However the text is split between calls, the segments are the same; only runs of text, reasoning and arguments may be
// split differently.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"

namespace pagoda {
class OutputParser;
namespace text {
class OutputMachine;
}
}  // namespace pagoda

void pagoda_output_parser_retain(pagoda::OutputParser* PAGODA_NONNULL parser) noexcept;
void pagoda_output_parser_release(pagoda::OutputParser* PAGODA_NONNULL parser) noexcept;

namespace pagoda {

enum class OutputSegmentKind : int32_t {
  text = 0,            // more of the answer
  reasoning,           // more of the model's reasoning
  tool_call_begin,     // tool_index and tool_name
  tool_arguments,      // more of the JSON object of the arguments
  tool_call_end,       // the arguments are complete and valid JSON
  rejected_tool_call,  // an invalid call: raw text and reason; tool_index >= 0 if a call had begun,
                       // which this segment ends
};

struct OutputSegment {
  OutputSegmentKind kind = OutputSegmentKind::text;
  std::string text;
  int32_t tool_index = -1;  // counts from 0
  std::string tool_name;
  std::string reason;
};

struct OutputParserOptions {
  bool splits_reasoning = true;      // false: thinking tags are text
  bool starts_in_reasoning = false;  // the prompt ended inside an open <think>
  std::string tools_json;            // the array of tools in OpenAI's format; "" or []: tool calls are text
};

struct OutputSegments {
  Status status;
  std::vector<OutputSegment> segments;
};

// Reads calls inside <tool_call>, whose format is detected: <function=NAME><parameter=KEY>value</parameter>
// </function> (Qwen3-Coder, Qwen3.5) and {"name": ..., "arguments": {...}} (Qwen3, Hermes). Tolerates missing tags at
// the end of or around a call, white space, CRLF, and a call before thinking is closed. A parameter is converted
// according to its schema (integer, number, boolean, null, object, array); a value that cannot be converted, or has no
// schema, stays a string, without the newline that the template adds on either side. An unknown tool is rejected.
// Thread rule: one thread at a time.
class PAGODA_SHARED_REFERENCE(pagoda_output_parser_retain, pagoda_output_parser_release) OutputParser {
 public:
  OutputSegments push(const std::string& text) noexcept;
  OutputSegments finish() noexcept;      // the end of the answer; nothing may follow
  OutputSegments finish_cut() noexcept;  // the same for an answer that was cut off: an incomplete call is rejected

  explicit OutputParser(std::unique_ptr<text::OutputMachine> machine) noexcept;
  ~OutputParser();
  OutputParser(const OutputParser&) = delete;
  OutputParser& operator=(const OutputParser&) = delete;

 private:
  friend void ::pagoda_output_parser_retain(OutputParser* PAGODA_NONNULL) noexcept;
  friend void ::pagoda_output_parser_release(OutputParser* PAGODA_NONNULL) noexcept;
  std::unique_ptr<text::OutputMachine> machine_;
  int64_t references_ = 1;  // atomic by builtin
};

// On failure (tools_json is not an array of tools) returns null and fills `status`.
PAGODA_RETURNS_RETAINED OutputParser* PAGODA_NULLABLE make_output_parser(const OutputParserOptions& options,
                                                                         Status* PAGODA_NONNULL status) noexcept;

}  // namespace pagoda
