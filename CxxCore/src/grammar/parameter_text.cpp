// One guard for all parameters, built when first needed.
#include "grammar/parameter_text.h"

#include <algorithm>
#include <array>

#include "grammar/characters.h"

namespace pagoda::grammar {

static constexpr std::string_view kBefore = "\n";  // what the frame writes before every value
static constexpr std::array<std::string_view, 5> kForbidden{"</parameter>", "</function", "</tool_call", "<tool_call",
                                                            "\n<parameter="};

const Guard& parameter_guard() {
  static const Guard guard(kForbidden, kBefore);
  return guard;
}

bool fits_parameter(std::string_view text) noexcept {
  const Guard& guard = parameter_guard();
  int32_t at = guard.start();
  for (size_t i = 0; i < text.size() && at != Guard::kDead; ++i) at = guard.next(at, static_cast<uint8_t>(text[i]));
  return at != Guard::kDead;
}

ParameterSlot add_parameter_frame(GrammarBuilder& builder, int32_t from, int32_t to) {
  const int32_t before_tag = builder.add_state();
  builder.add_literal(before_tag, "\n</parameter>\n", to);
  return {builder.begin_guard(builder.add_literal(from, kBefore), parameter_guard()), builder.end_guard(before_tag)};
}

Rule add_any_text(GrammarBuilder& builder) {
  const Rule rule = builder.add_rule();
  const int32_t loop = builder.add_state();
  builder.add_jump(rule.start, loop);
  add_text_characters(builder, loop, 0, kLastCharacter, loop);
  builder.add_jump(loop, rule.end);
  return rule;
}

}  // namespace pagoda::grammar
