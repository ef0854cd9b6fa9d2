// OutputParser: takes the text of an answer apart while it arrives: reasoning, text, tool calls.
// However the text is split between calls, the same pieces result; only runs of text, reasoning and arguments may be
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

enum class OutputPieceKind : int32_t {
  text = 0,            // more of the answer
  reasoning,           // more of what the model thinks
  tool_call_begin,     // tool_index and tool_name
  tool_arguments,      // more of the JSON object of the arguments
  tool_call_end,       // the arguments are whole and valid JSON
  rejected_tool_call,  // markup that became no call: raw text and reason; tool_index >= 0 if a call had begun, and ends
                       // it
};

struct OutputPiece {
  OutputPieceKind kind = OutputPieceKind::text;
  std::string text;
  int32_t tool_index = -1;  // counts from 0
  std::string tool_name;
  std::string reason;
};

struct OutputParserOptions {
  bool splits_reasoning = true;      // false: tags of thinking are text
  bool starts_in_reasoning = false;  // the prompt ended inside an open <think>
  std::string tools_json;            // the array of tools as OpenAI's API has it; "" or []: tool calls are text
};

struct OutputPieces {
  Status status;
  std::vector<OutputPiece> pieces;
};

// Understands calls inside <tool_call>, told apart by what is seen: <function=NAME><parameter=KEY>value</parameter>
// </function> (Qwen3-Coder, Qwen3.5) and {"name": ..., "arguments": {...}} (Qwen3, Hermes). Forgiving: tags that are
// missing at the end or around a call, white space, CRLF, a call before thinking is closed. A parameter becomes what
// its schema says (integer, number, boolean, null, object, array); a value that does not convert, or has no schema,
// stays the string it is, without the one newline the template puts on either side. A name that is no tool is rejected.
// Thread rule: one thread at a time.
class PAGODA_SHARED_REFERENCE(pagoda_output_parser_retain, pagoda_output_parser_release) OutputParser {
 public:
  OutputPieces push(const std::string& text) noexcept;
  OutputPieces finish() noexcept;      // the end of the answer; nothing may follow
  OutputPieces finish_cut() noexcept;  // the same, of an answer that was cut: a call that is not whole is rejected

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
