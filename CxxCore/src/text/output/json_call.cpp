// Tracks only brackets and strings; the arguments are validated as JSON once, at the end.
#include "text/output/json_call.h"

#include "base/json.h"

namespace pagoda::text {
namespace {

std::string unquoted(const std::string& token) {
  const auto value = io::parse_json(token);
  return value.is_ok() ? value->as_string() : std::string();
}

}  // namespace

size_t JsonCall::push(std::string_view bytes, SegmentList& segments) {
  size_t i = 0;
  while (i < bytes.size() && !is_closed_) take(bytes[i++], segments);
  if (has_begun_ && arguments_.starts_with('{')) {
    segments.add(OutputSegmentKind::tool_arguments, std::string_view(arguments_).substr(num_sent_), index_);
    num_sent_ = arguments_.size();
  }
  return i;
}

void JsonCall::take(char c, SegmentList& segments) {
  const bool was_in_string = in_string_;
  if (in_string_) {
    token_ += c;
    if (escaped_) escaped_ = false;
    else if (c == '\\') escaped_ = true;
    else if (c == '"') in_string_ = false;
    if (in_arguments() && depth_ >= 1) arguments_ += c;
    if (!in_string_ && depth_ == 1) end_string();
    return;
  }
  if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return;  // whitespace between tokens is insignificant
  if (c == '"') {
    in_string_ = true;
    token_ = c;
  } else if (c == '{' || c == '[') {
    ++depth_;
    if (depth_ == 1) return;
  } else if (c == '}' || c == ']') {
    --depth_;
  }
  if (depth_ == 0 || (depth_ == 1 && c == ',')) {
    end_member(segments);
    is_closed_ = depth_ == 0;
  } else if (depth_ == 1 && c == ':' && in_key_) {
    in_key_ = false;
    if (in_arguments()) begin_if_known(segments);
  } else if (in_arguments() && !was_in_string) {
    arguments_ += c;
  }
}

void JsonCall::end_string() {
  if (in_key_) key_ = unquoted(token_);
  else if (key_ == "name") name_ = unquoted(token_);
}

void JsonCall::end_member(SegmentList& segments) {
  begin_if_known(segments);
  in_key_ = true;
  key_.clear();
}

void JsonCall::begin_if_known(SegmentList& segments) {
  if (has_begun_ || name_.empty() || !tools_.has(name_) || !in_arguments()) return;
  has_begun_ = true;
  segments.add({OutputSegmentKind::tool_call_begin, {}, index_, name_, {}});
}

void JsonCall::finish(std::string_view raw, SegmentList& segments) {
  const auto reject = [&](std::string reason) {
    segments.add(
        {OutputSegmentKind::rejected_tool_call, std::string(raw), has_begun_ ? index_ : -1, name_, std::move(reason)});
  };
  if (name_.empty()) return reject("the call has no name");
  if (!tools_.has(name_)) return reject("there is no such tool");
  if (!is_closed_ && depth_ > 1) return reject("the call ends in the middle of its arguments");
  if (in_string_) return reject("the call ends in the middle of a string");
  if (arguments_.starts_with('"')) arguments_ = unquoted(arguments_);  // JSON encoded as a string
  if (arguments_.empty() || arguments_ == "null") arguments_ = "{}";
  io::JsonLimits limits;
  limits.reject_duplicate_keys = false;  // left to the reader of the arguments
  const auto value = io::parse_json(arguments_, limits);
  if (!value.is_ok() || !value->is_object())
    return reject("the arguments are no JSON object" + (value.is_ok() ? std::string() : ": " + value.status.message));
  if (!has_begun_) segments.add({OutputSegmentKind::tool_call_begin, {}, index_, name_, {}});
  has_begun_ = true;
  segments.add(OutputSegmentKind::tool_arguments, std::string_view(arguments_).substr(num_sent_), index_);
  segments.add({OutputSegmentKind::tool_call_end, {}, index_, {}, {}});
}

}  // namespace pagoda::text
