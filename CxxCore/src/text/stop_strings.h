// StopStrings: watches a stream of text for strings that end it and holds back what may be the start of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pagoda::text {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> stops);

  // Takes new text; appends to `out` what can no longer be part of a stop string. True when a stop string was found:
  // the text before it has been appended and the rest is dropped; matched() says which (of those ending first, the
  // longest-starting one: the earliest start wins). When `armed` is false nothing stops and nothing is held back.
  bool push(std::string_view text, bool armed, std::string& out);

  // End of the stream without a match: what was held back.
  void finish(std::string& out);
  const std::string& matched() const noexcept { return matched_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  std::string matched_;
};

}  // namespace pagoda::text
