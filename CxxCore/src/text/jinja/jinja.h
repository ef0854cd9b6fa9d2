// JinjaTemplate: a parsed chat template; rendering is sandboxed (no I/O, no host objects) and has resource limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "pagoda/chat_template.h"

namespace pagoda::text {

struct JinjaLimits {
  int64_t max_steps = 500'000;
  size_t max_output_bytes = 4 << 20;
  std::chrono::milliseconds max_time{250};
  int max_depth = 100;                 // nesting and macro calls
  size_t max_memory_bytes = 64 << 20;  // values alive at one time
};

class JinjaTemplate {
 public:
  // `constants`: names and texts that count as written by the template itself, such as bos_token; variables cannot
  // shadow them.
  using Constants = std::map<std::string, std::string>;
  static Result<std::shared_ptr<const JinjaTemplate>> parse(std::string_view source, const std::string& file_name,
                                                            Constants constants = {});
  ~JinjaTemplate();

  // Renders with the members of `variables` as globals, in the environment that chat templates expect from
  // `transformers` (trim_blocks, lstrip_blocks, tojson without HTML escapes, raise_exception, strftime_now, loop
  // controls). The segments separate text written by the template from text that came from a variable.
  Result<std::vector<PromptSegment>> render(const io::Json& variables, const JinjaLimits& limits = {}) const;

 private:
  JinjaTemplate();
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace pagoda::text
