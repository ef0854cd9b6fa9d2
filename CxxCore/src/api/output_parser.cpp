// OutputParser of the public headers: an OutputMachine behind a reference count.
#include "pagoda/output_parser.h"
#include "base/assign_or_return.h"

#include <utility>

#include "api/guard.h"
#include "text/output/machine.h"

void pagoda_output_parser_retain(pagoda::OutputParser* parser) noexcept { pagoda::api::retain(parser->references_); }

void pagoda_output_parser_release(pagoda::OutputParser* parser) noexcept {
  if (pagoda::api::release(parser->references_)) delete parser;
}

namespace pagoda {

OutputParser::OutputParser(std::unique_ptr<text::OutputMachine> machine) noexcept : machine_(std::move(machine)) {}
OutputParser::~OutputParser() = default;

OutputSegments OutputParser::push(const std::string& text) noexcept {
  return api::guarded_result<OutputSegments>([&](OutputSegments& result) {
    result.segments = machine_->push(text);
    return ok_status();
  });
}

OutputSegments OutputParser::finish() noexcept {
  return api::guarded_result<OutputSegments>([&](OutputSegments& result) {
    result.segments = machine_->finish();
    return ok_status();
  });
}

OutputSegments OutputParser::finish_cut() noexcept {
  OutputSegments result;
  result.status = api::guarded([&] {
    result.segments = machine_->finish_cut();
    return ok_status();
  });
  return result;
}

OutputParser* make_output_parser(const OutputParserOptions& options, Status* status) noexcept {
  OutputParser* parser = nullptr;
  *status = api::guarded([&]() -> Status {
    PAGODA_ASSIGN_OR_RETURN(text::ToolList tools, text::ToolList::parse(options.tools_json));
    parser = new OutputParser(std::make_unique<text::OutputMachine>(options, std::move(tools)));
    return ok_status();
  });
  return parser;
}

}  // namespace pagoda
