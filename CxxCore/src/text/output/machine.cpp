// Each state examines the front of the buffer, emits text that is certain and keeps text that may still become a tag.
#include "text/output/machine.h"

#include <algorithm>
#include <span>

namespace pagoda::text {
namespace {

constexpr std::string_view kThink = "<think>", kThinkEnd = "</think>", kCall = "<tool_call>", kCallEnd = "</tool_call>",
                           kFunction = "<function=", kFunctionEnd = "</function>";
constexpr std::string_view kSpaces = " \t\r\n", kNewlines = "\r\n";
constexpr size_t kMinCutTag = 6;         // length from which a truncated tag at the very end counts as a tag
constexpr size_t kMaxHeaderBytes = 512;  // limit within which a call inside thinking must name its tool

size_t skip(std::string_view text, std::string_view set, size_t at = 0) {
  return std::min(text.find_first_not_of(set, at), text.size());
}

// Start of the trailing white space that is held back.
size_t held_from(std::string_view text) {
  constexpr size_t kMaxHeldSpaces = 64;
  const size_t last = text.find_last_not_of(kSpaces);
  const size_t begin = last == std::string_view::npos ? 0 : last + 1;
  return std::max(begin, text.size() - std::min(text.size(), kMaxHeldSpaces));
}

}  // namespace

OutputMachine::OutputMachine(const OutputParserOptions& options, ToolList tools)
    : tools_(std::move(tools)),
      state_(!options.splits_reasoning     ? State::text
             : options.starts_in_reasoning ? State::thinking
                                           : State::maybe_thinking) {}

std::vector<OutputSegment> OutputMachine::push(std::string_view text) {
  buffer_.erase(0, at_);
  at_ = 0;
  buffer_ += text;
  while (advance(/*at_end=*/false)) {
  }
  return segments_.take();
}

std::vector<OutputSegment> OutputMachine::finish() {
  while (advance(/*at_end=*/true)) {
  }
  return segments_.take();
}

// The rest of a truncated call cannot be guessed: half an argument would be taken for a whole one.
std::vector<OutputSegment> OutputMachine::finish_cut() {
  if (!xml_ && !json_) return finish();
  const bool has_begun = xml_ ? xml_->has_begun() : json_->has_begun();
  segments_.add({OutputSegmentKind::rejected_tool_call, raw_ + std::string(rest()), has_begun ? num_calls_ : -1,
                 xml_ ? xml_->name() : json_->name(), "the answer was cut before the call was complete"});
  return segments_.take();
}

bool OutputMachine::advance(bool at_end) {
  switch (state_) {
    case State::maybe_thinking: return read_maybe_thinking(at_end);
    case State::before_thinking: return skip_newlines(State::thinking);
    case State::thinking: return read_thinking(at_end);
    case State::after_thinking: return skip_newlines(State::text);
    case State::text: return read_text(at_end);
    case State::call_opening: return read_call_opening(at_end);
    case State::xml_call:
    case State::json_call: return read_call(at_end);
    case State::after_call: return read_after_call(at_end);
  }
  return false;
}

void OutputMachine::emit(OutputSegmentKind kind, size_t num_bytes) {
  segments_.add(kind, rest().substr(0, num_bytes));
  at_ += num_bytes;
}

bool OutputMachine::read_maybe_thinking(bool at_end) {
  const size_t begin = skip(rest(), kSpaces);
  const Match found = match(rest().substr(begin), kThink, at_end);
  if (found == Match::partly) return false;
  if (found == Match::yes) at_ += begin + kThink.size();
  state_ = found == Match::yes ? State::before_thinking : State::text;
  return true;
}

bool OutputMachine::skip_newlines(State next) {
  at_ += skip(rest(), kNewlines);
  if (rest().empty()) return false;
  state_ = next;
  return true;
}

// The last newline before the closing tag belongs to the tag; white space before a call belongs to the call.
bool OutputMachine::read_thinking(bool at_end) {
  const std::string_view text = rest();
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view tail = text.substr(at), before = text.substr(0, at);
    const Match end = match(tail, kThinkEnd, at_end);
    Match call = tools_.is_empty() ? Match::no : match(tail, kCall, at_end);
    if (call == Match::yes) call = call_follows(tail.substr(kCall.size()), at_end);
    if (end == Match::yes) {
      const size_t kept = at - (before.ends_with("\r\n") ? 2 : before.ends_with('\n') ? 1 : 0);
      emit(OutputSegmentKind::reasoning, kept);
      at_ += at - kept + kThinkEnd.size();
      state_ = State::after_thinking;
      return true;
    }
    if (call == Match::yes) {
      open_call(OutputSegmentKind::reasoning, at, kCall);
      return true;
    }
    if (end == Match::partly || call == Match::partly)
      return emit(OutputSegmentKind::reasoning, held_from(before)), false;
  }
  emit(OutputSegmentKind::reasoning, at_end ? text.size() : held_from(text));
  return false;
}

bool OutputMachine::read_text(bool at_end) {
  const std::string_view text = rest();
  if (tools_.is_empty()) return emit(OutputSegmentKind::text, text.size()), false;
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view tail = text.substr(at);
    for (const std::string_view tag : {kCall, kFunction, kCallEnd, kFunctionEnd}) {
      const Match found = match(tail, tag, /*at_end=*/false);
      if (found == Match::no) continue;
      if (found == Match::yes) return open_call(OutputSegmentKind::text, at, tag), true;
      if (!at_end) return emit(OutputSegmentKind::text, held_from(text.substr(0, at))), false;
      if (tail.size() < kMinCutTag) continue;
      open_call(OutputSegmentKind::text, at, tail);
      segments_.add({OutputSegmentKind::rejected_tool_call, raw_, -1, {}, "the answer ends inside a tag"});
      return false;
    }
  }
  emit(OutputSegmentKind::text, at_end ? text.size() : held_from(text));
  return false;
}

// Emits the text before the tag and enters the tag's state.
void OutputMachine::open_call(OutputSegmentKind before, size_t at, std::string_view tag) {
  const size_t kept = held_from(rest().substr(0, at));
  raw_ = tag;
  emit(before, kept);
  at_ += at - kept + raw_.size();
  outside_call_ = state_;
  if (raw_ == kFunction) begin_call(State::xml_call);
  else state_ = raw_ == kCall ? State::call_opening : State::after_call;
}

bool OutputMachine::read_call_opening(bool at_end) {
  const size_t begin = skip(rest(), kSpaces);
  const std::string_view text = rest().substr(begin);
  const Match function = match(text, kFunction, at_end);
  if (function == Match::partly) return false;
  if (function == Match::yes || text.starts_with('{')) {
    const size_t num_bytes = begin + (function == Match::yes ? kFunction.size() : 0);
    raw_ += rest().substr(0, num_bytes);
    at_ += num_bytes;
    begin_call(function == Match::yes ? State::xml_call : State::json_call);
    return true;
  }
  segments_.add({OutputSegmentKind::rejected_tool_call, raw_, -1, {}, "neither a function nor JSON follows"});
  state_ = outside_call_;
  return !rest().empty();
}

void OutputMachine::begin_call(State state) {
  state_ = state;
  if (state == State::xml_call) xml_.emplace(tools_, num_calls_);
  else json_.emplace(tools_, num_calls_);
}

bool OutputMachine::read_call(bool at_end) {
  const size_t num_read = xml_ ? xml_->push(rest(), at_end, segments_) : json_->push(rest(), segments_);
  raw_ += rest().substr(0, num_read);
  at_ += num_read;
  const bool is_closed = xml_ ? xml_->is_closed() : json_->is_closed();
  if (is_closed || at_end) end_call();
  return is_closed;
}

void OutputMachine::end_call() {
  if (xml_) xml_->finish(raw_, segments_);
  else json_->finish(raw_, segments_);
  num_calls_ += xml_ ? xml_->has_begun() : json_->has_begun();
  xml_.reset();
  json_.reset();
  raw_.clear();
  state_ = State::after_call;
}

bool OutputMachine::read_after_call(bool at_end) {
  at_ += skip(rest(), kSpaces);
  if (rest().empty()) return false;
  for (const std::string_view tag : {kCallEnd, kFunctionEnd}) {
    const Match found = match(rest(), tag, /*at_end=*/false);
    if (found == Match::partly) return at_ += at_end ? rest().size() : 0, false;
    if (found == Match::yes) return at_ += tag.size(), true;
  }
  state_ = outside_call_;
  return true;
}

// Thinking may mention calls; only one that names an existing tool in the right position is a call.
Match OutputMachine::call_follows(std::string_view text, bool at_end) const {
  const Match undecided = at_end || text.size() >= kMaxHeaderBytes ? Match::no : Match::partly;
  text = text.substr(0, kMaxHeaderBytes);
  const bool is_json = text.substr(skip(text, kSpaces)).starts_with('{');
  constexpr std::string_view kFunctionParts[] = {kFunction}, kJsonParts[] = {"{", "\"name\"", ":", "\""};
  size_t at = 0;
  for (const std::string_view part : is_json ? std::span<const std::string_view>(kJsonParts) : kFunctionParts) {
    at = skip(text, kSpaces, at);
    const Match found = match(text.substr(at), part, /*at_end=*/false);
    if (found != Match::yes) return found == Match::no ? Match::no : undecided;
    at += part.size();
  }
  const size_t end = text.find_first_of(is_json ? "\"" : ">\n<", at);
  if (end == std::string_view::npos) return undecided;
  return tools_.has(text.substr(at, end - at)) ? Match::yes : Match::no;
}

}  // namespace pagoda::text
