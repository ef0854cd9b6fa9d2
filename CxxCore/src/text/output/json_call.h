// JsonCall: a tool call written as JSON, {"name": ..., "arguments": {...}}, parsed byte by byte so that its arguments
// can be streamed.
#pragma once

#include <string>
#include <string_view>

#include "text/output/segments.h"
#include "text/output/tool_list.h"

namespace pagoda::text {

class JsonCall {
 public:
  JsonCall(const ToolList& tools, int32_t index) : tools_(tools), index_(index) {}

  // Consumes bytes up to the end of the object and returns their number. The first is its '{'.
  size_t push(std::string_view bytes, SegmentList& segments);
  bool is_closed() const noexcept { return is_closed_; }
  bool has_begun() const noexcept { return has_begun_; }
  const std::string& name() const noexcept { return name_; }

  // After the last byte: completes or rejects the call. `raw` is its markup.
  void finish(std::string_view raw, SegmentList& segments);

 private:
  void take(char c, SegmentList& segments);
  void end_string();
  void end_member(SegmentList& segments);
  void begin_if_known(SegmentList& segments);
  bool in_arguments() const noexcept { return !in_key_ && (key_ == "arguments" || key_ == "parameters"); }

  const ToolList& tools_;
  int32_t index_;
  int depth_ = 0;
  bool in_string_ = false, escaped_ = false, is_closed_ = false;
  bool in_key_ = true;       // at depth 1: before the ':'
  std::string key_, token_;  // key of the member being read; last string, with its quotes and escapes
  std::string name_, arguments_;
  size_t num_sent_ = 0;  // bytes of arguments_ already emitted
  bool has_begun_ = false;
};

}  // namespace pagoda::text
