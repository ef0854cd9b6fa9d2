// OutputMachine: the state machine that separates an answer into thinking, text and tool calls; behind OutputParser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pagoda/output_parser.h"
#include "text/output/json_call.h"
#include "text/output/segments.h"
#include "text/output/tool_list.h"
#include "text/output/xml_call.h"

namespace pagoda::text {

class OutputMachine {
 public:
  OutputMachine(const OutputParserOptions& options, ToolList tools);

  std::vector<OutputSegment> push(std::string_view text);
  std::vector<OutputSegment> finish();
  std::vector<OutputSegment> finish_cut();  // for an answer that the model did not end itself

 private:
  enum class State {
    maybe_thinking,   // only white space so far
    before_thinking,  // newlines after the opening tag belong to it
    thinking,
    after_thinking,  // newlines between the tag and the answer belong to neither
    text,
    call_opening,  // after <tool_call>
    xml_call,
    json_call,
    after_call,  // white space and closing tags after a call belong to it
  };

  // Each advances in buffer_ and returns false if it needs more text.
  bool advance(bool at_end);
  bool read_maybe_thinking(bool at_end);
  bool skip_newlines(State next);
  bool read_thinking(bool at_end);
  bool read_text(bool at_end);
  bool read_call_opening(bool at_end);
  bool read_call(bool at_end);
  bool read_after_call(bool at_end);

  std::string_view rest() const noexcept { return std::string_view(buffer_).substr(at_); }
  void emit(OutputSegmentKind kind, size_t num_bytes);
  void open_call(OutputSegmentKind before, size_t at, std::string_view tag);
  void begin_call(State state);
  void end_call();
  Match call_follows(std::string_view text, bool at_end) const;  // whether a call of an existing tool follows

  ToolList tools_;
  State state_;
  State outside_call_ = State::text;  // state to return to after a call
  std::string buffer_;                // from at_ on: undecided text
  size_t at_ = 0;
  std::string raw_;  // markup of the current call, until it has started
  int32_t num_calls_ = 0;
  std::optional<XmlCall> xml_;
  std::optional<JsonCall> json_;
  SegmentList segments_;
};

}  // namespace pagoda::text
