// JinjaTemplate: combines lexer, parser and evaluator.
#include "text/jinja/jinja.h"

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/parse/lexer.h"
#include "text/jinja/parse/tree.h"
#include "text/unicode/unicode.h"

namespace pagoda::text {
namespace {

constexpr size_t kMaxSourceBytes = 1 << 20;

}  // namespace

struct JinjaTemplate::Tree : jinja::Tree {};

JinjaTemplate::JinjaTemplate() : tree_(std::make_unique<Tree>()) {}
JinjaTemplate::~JinjaTemplate() = default;

Result<std::shared_ptr<const JinjaTemplate>> JinjaTemplate::parse(std::string_view source, const std::string& file_name,
                                                                  Constants constants) {
  if (source.size() > kMaxSourceBytes) {
    return make_error(StatusCode::bad_file, concat(file_name, ": the template has ", source.size(), " bytes, at most ",
                                                   kMaxSourceBytes, " are read"));
  }
  const size_t invalid = find_invalid_utf8(source);
  if (invalid != std::string_view::npos)
    return make_error(StatusCode::bad_file, concat(file_name, ": invalid UTF-8 at byte ", invalid));
  PAGODA_ASSIGN_OR_RETURN(auto tokens, jinja::tokenize(source, file_name));
  std::shared_ptr<JinjaTemplate> result(new JinjaTemplate());
  result->tree_->file_name = file_name;
  result->tree_->constants = std::move(constants);
  PAGODA_RETURN_IF_ERROR(jinja::parse_tree(std::move(tokens), *result->tree_));
  return std::shared_ptr<const JinjaTemplate>(std::move(result));
}

Result<std::vector<PromptSegment>> JinjaTemplate::render(const io::Json& variables, const JinjaLimits& limits) const {
  if (!variables.is_object())
    return make_error(StatusCode::invalid_argument, "template variables must be a JSON object");
  jinja::Runtime runtime(limits, tree_->file_name);
  jinja::Evaluator evaluator(*tree_, variables, runtime);
  const auto text = evaluator.run();
  if (!runtime.ok()) return runtime.error();
  std::vector<PromptSegment> segments;
  text->for_each_run([&](std::string_view bytes, bool trusted) { segments.push_back({std::string(bytes), trusted}); });
  return segments;
}

}  // namespace pagoda::text
