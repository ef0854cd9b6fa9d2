// A value ends at </parameter> only if markup of the call follows, so that a value may contain such a tag.
#include "text/output/xml_call.h"

#include <algorithm>

#include "base/json_writer.h"

namespace pagoda::text {
namespace {

constexpr std::string_view kParameter = "<parameter=", kParameterEnd = "</parameter>",
                           kFunction = "<function=", kFunctionEnd = "</function>", kCall = "<tool_call>",
                           kCallEnd = "</tool_call>";
constexpr size_t kMaxNameBytes = 256;
constexpr std::string_view kSpaces = " \t\r\n";

size_t skip_spaces(std::string_view text, size_t at) noexcept {
  return std::min(text.find_first_not_of(kSpaces, at), text.size());
}

// Whether one of the tags, or the end, follows `at` after white space.
template <class Tags>
Match follows(std::string_view text, size_t at, bool at_end, const Tags& tags) noexcept {
  at = skip_spaces(text, at);
  if (at == text.size()) return at_end ? Match::yes : Match::partly;
  Match best = Match::no;
  for (const std::string_view tag : tags) {
    const Match found = match(text.substr(at), tag, /*at_end=*/false);  // a truncated tag at the end counts too
    if (found == Match::yes || (found == Match::partly && at_end)) return Match::yes;
    if (found == Match::partly) best = found;
  }
  return best;
}

std::string clean_name(std::string_view name) {
  const std::string_view around = " \t\r\n\"'";
  const size_t begin = name.find_first_not_of(around);
  if (begin == std::string_view::npos) return {};
  return std::string(name.substr(begin, name.find_last_not_of(around) - begin + 1));
}

// Length of the newline at the front or at the back; 0 if there is none.
size_t newline_at_front(std::string_view text) { return text.starts_with("\r\n") ? 2 : text.starts_with('\n') ? 1 : 0; }
size_t newline_at_back(std::string_view text) { return text.ends_with("\r\n") ? 2 : text.ends_with('\n') ? 1 : 0; }

}  // namespace

size_t XmlCall::push(std::string_view text, bool at_end, SegmentList& segments) {
  size_t done = 0;
  while (!is_closed()) {
    const State before = state_;
    const size_t num_read = read(text.substr(done), at_end, segments);
    done += num_read;
    if (num_read == 0 && state_ == before) break;
  }
  return done;
}

size_t XmlCall::read(std::string_view text, bool at_end, SegmentList& segments) {
  switch (state_) {
    case State::function_name:
    case State::parameter_name: return read_name(text, at_end, segments);
    case State::between: return read_between(text, at_end);
    case State::value: return read_value(text, at_end, segments);
    case State::closed: return 0;
  }
  return 0;
}

// Reads up to '>', or without one, to the end of the line or the next tag.
size_t XmlCall::read_name(std::string_view text, bool at_end, SegmentList& segments) {
  const size_t end = text.find_first_of(">\n<");
  if (end == std::string_view::npos && !at_end && text.size() <= kMaxNameBytes) return 0;
  const size_t length = std::min({end, text.size(), kMaxNameBytes});
  std::string name = clean_name(text.substr(0, length));
  const bool has_bracket = length < text.size() && text[length] == '>';
  if (state_ == State::parameter_name) {
    open_parameter(std::move(name));
    state_ = State::value;
  } else {
    name_ = std::move(name);
    has_begun_ = tools_.has(name_);
    if (has_begun_) segments.add({OutputSegmentKind::tool_call_begin, {}, index_, name_, {}});
    state_ = State::between;
  }
  return length + has_bracket;
}

size_t XmlCall::read_between(std::string_view text, bool at_end) {
  const size_t at = std::min(text.find('<'), text.size());  // text outside of markup is dropped
  const std::string_view rest = text.substr(at);
  bool may_be_tag = false;
  for (const std::string_view tag : {kParameter, kFunctionEnd, kCallEnd, kCall, kFunction}) {
    const Match found = match(rest, tag, at_end);
    may_be_tag |= found == Match::partly;
    if (found != Match::yes) continue;
    state_ = tag == kParameter ? State::parameter_name : State::closed;
    return at + (tag == kParameter || tag == kFunctionEnd ? tag.size() : 0);
  }
  if (rest.empty() || may_be_tag) return at;
  return at + 1;
}

size_t XmlCall::read_value(std::string_view text, bool at_end, SegmentList& segments) {
  const ValueEnd end = find_value_end(text, at_end);
  add_value(text.substr(0, end.begin), segments);
  if (end.match != Match::yes) return end.begin;
  close_value(segments);
  state_ = State::between;
  return end.next;
}

XmlCall::ValueEnd XmlCall::find_value_end(std::string_view text, bool at_end) {
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const ValueEnd end = match_value_end(text, at, at_end);
    if (end.match != Match::no) return end;
  }
  if (at_end) return {Match::yes, text.size(), text.size()};
  // A newline may belong to the next parameter; its '<' decides.
  return {Match::no, text.size() - newline_at_back(text), text.size()};
}

XmlCall::ValueEnd XmlCall::match_value_end(std::string_view text, size_t at, bool at_end) {
  static constexpr std::string_view kAfterParameter[] = {kParameter, kFunctionEnd, kCallEnd, kCall, kFunction};
  static constexpr std::string_view kAfterFunction[] = {kCallEnd, kCall, kFunction};
  static constexpr std::string_view kAfterCall[] = {kCall, kFunction};
  const std::string_view rest = text.substr(at);
  const size_t newline = newline_at_back(text.substr(0, at));
  const ValueEnd undecided{Match::partly, at - newline, at};
  const auto decide = [&](Match found, size_t next) {
    return found == Match::partly ? undecided : ValueEnd{found, at, next};
  };
  if (rest.starts_with(kParameterEnd)) {
    const size_t next = at + kParameterEnd.size();
    return decide(follows(text, next, at_end, kAfterParameter), next);
  }
  if (rest.starts_with(kFunctionEnd))
    return decide(follows(text, at + kFunctionEnd.size(), at_end, kAfterFunction), at);
  if (rest.starts_with(kCallEnd)) return decide(follows(text, at + kCallEnd.size(), at_end, kAfterCall), at);
  if (newline > 0 && rest.starts_with(kParameter)) return {Match::yes, at, at};
  for (const std::string_view tag : {kParameterEnd, kFunctionEnd, kCallEnd, kParameter}) {
    if (tag == kParameter && newline == 0) continue;
    if (tag.starts_with(rest)) return at_end ? ValueEnd{Match::yes, at, text.size()} : undecided;
  }
  return {};
}

void XmlCall::open_parameter(std::string name) {
  parameter_ = std::move(name);
  is_ignored_ = !has_begun_ || parameter_.empty() || std::ranges::find(seen_, parameter_) != seen_.end();
  if (!is_ignored_) seen_.push_back(parameter_);
  kind_ = tools_.parameter(name_, parameter_);
  is_first_ = true;
  has_plain_newline_ = false;
  is_streamed_ = false;
  held_.clear();
}

// A value that starts after "\n" ends before "\n", and one that starts after "\r\n" before "\r\n".
void XmlCall::drop_first_newline() {
  const size_t size = newline_at_front(held_);
  held_.erase(0, size);
  has_plain_newline_ = size == 1;
  is_first_ = false;
}

void XmlCall::add_value(std::string_view text, SegmentList& segments) {
  if (is_ignored_ || text.empty()) return;
  held_ += text;
  if (is_first_) {
    if (held_ == "\r") return;
    drop_first_newline();
  }
  const bool may_be_null =
      kind_.may_be_null && (std::string_view("null").starts_with(held_) || held_.starts_with("null") ||
                            std::string_view("None").starts_with(held_) || held_.starts_with("None"));
  if (!kind_.may_be_string || !kind_.listed.empty() || (!is_streamed_ && may_be_null)) return;
  size_t certain = held_.size() - newline_at_back(held_);
  if (certain > 0 && held_[certain - 1] == '\r' && certain == held_.size()) --certain;
  if (certain == 0) return;
  std::string json;
  if (!is_streamed_) json = '"';
  is_streamed_ = true;
  io::append_json_escaped(std::string_view(held_).substr(0, certain), json);
  add_arguments(json, segments);
  held_.erase(0, certain);
}

void XmlCall::close_value(SegmentList& segments) {
  if (is_ignored_) return;
  if (is_first_) drop_first_newline();
  const size_t newline = newline_at_back(held_);
  held_.erase(held_.size() - (has_plain_newline_ ? std::min<size_t>(newline, 1) : newline));
  std::string json = is_streamed_ ? std::string() : convert_value(held_, kind_);
  if (json.empty()) {
    if (!is_streamed_) json = '"';
    io::append_json_escaped(held_, json);
    json += '"';
  }
  add_arguments(json, segments);
  held_.clear();
}

// The key is emitted with the first chunk of its value.
void XmlCall::add_arguments(std::string_view json, SegmentList& segments) {
  if (seen_.size() > num_parameters_) {
    std::string key = num_parameters_ == 0 ? "{" : ",";
    io::append_json_string(parameter_, key);
    key += ':';
    segments.add(OutputSegmentKind::tool_arguments, key, index_);
    num_parameters_ = seen_.size();
  }
  segments.add(OutputSegmentKind::tool_arguments, json, index_);
}

void XmlCall::finish(std::string_view raw, SegmentList& segments) {
  if (!has_begun_) {
    segments.add({OutputSegmentKind::rejected_tool_call, std::string(raw), -1, name_,
                  name_.empty() ? "the call has no name" : "there is no such tool"});
    return;
  }
  segments.add(OutputSegmentKind::tool_arguments, num_parameters_ == 0 ? "{}" : "}", index_);
  segments.add({OutputSegmentKind::tool_call_end, {}, index_, {}, {}});
}

}  // namespace pagoda::text
