// XmlCall: parses the text after <function= of a tool call as far as it is unambiguous so far.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/output/segments.h"
#include "text/output/tool_list.h"

namespace pagoda::text {

class XmlCall {
 public:
  XmlCall(const ToolList& tools, int32_t index) : tools_(tools), index_(index) {}

  // Parses `text`, which starts where the last call ended, and returns how many bytes are consumed. If `at_end`,
  // nothing follows and everything is consumed.
  size_t push(std::string_view text, bool at_end, SegmentList& segments);
  bool is_closed() const noexcept { return state_ == State::closed; }
  bool has_begun() const noexcept { return has_begun_; }
  const std::string& name() const noexcept { return name_; }

  // After the last byte: completes the call, or rejects it with its markup.
  void finish(std::string_view raw, SegmentList& segments);

 private:
  enum class State {
    function_name,
    between,  // parameters
    parameter_name,
    value,
    closed,  // its closing tag, if part of the call, is consumed
  };
  struct ValueEnd {
    Match match = Match::no;
    size_t begin = 0;  // start of the text that is, or may be, no longer part of the value
    size_t next = 0;   // where parsing continues
  };

  size_t read(std::string_view text, bool at_end, SegmentList& segments);
  size_t read_name(std::string_view text, bool at_end, SegmentList& segments);
  size_t read_between(std::string_view text, bool at_end);
  size_t read_value(std::string_view text, bool at_end, SegmentList& segments);
  static ValueEnd find_value_end(std::string_view text, bool at_end);
  static ValueEnd match_value_end(std::string_view text, size_t at, bool at_end);
  void open_parameter(std::string name);
  void drop_first_newline();
  void add_value(std::string_view text, SegmentList& segments);
  void close_value(SegmentList& segments);
  void add_arguments(std::string_view json, SegmentList& segments);

  const ToolList& tools_;
  int32_t index_;
  State state_ = State::function_name;
  bool has_begun_ = false;
  std::string name_;
  size_t num_parameters_ = 0;
  std::vector<std::string> seen_;  // parameter names; repetitions are ignored

  // The current value.
  std::string parameter_;
  ParameterKind kind_;
  bool is_ignored_ = false, is_first_ = true, has_plain_newline_ = false, is_streamed_ = false;
  std::string held_;  // pending text of the value: waits for its type, or for what follows a newline
};

}  // namespace pagoda::text
