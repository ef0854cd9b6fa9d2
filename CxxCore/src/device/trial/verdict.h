// Verdict: whether a machine uses kernels that had to pass a trial, cached in a file: a start does not repeat the
// trial, and a machine gives the same bits at every start.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace pagoda::device {

struct Verdict {
  enum class Found { none, used, usual, unfinished };
  Found found = Found::none;
  std::string reason;  // in one line

  // An error of a trial is a verdict for the usual kernels, with its message.
  static Verdict refused(const Status& status);
  // `time` is relative to the usual kernels; more than `most` is a verdict for those. what: ends "0.50 of the time of "
  static Verdict timed(double time, double most, const char* what);
};

// The cached verdict, or that of `trial` if there is none and `may_try`. An error of `trial` says that another start
// may succeed: it is not cached. `path` is "" if there is nowhere to cache; then the usual kernels are used, because
// the next start might find another verdict.
//
// The file records the start of a trial; if the trial ends the process or never ends, later starts find the record and
// do not try again.
Verdict find_verdict(const std::string& path, bool may_try, const std::function<Result<Verdict>()>& trial);

// Returns whether the file now contains the verdict.
bool keep_verdict(const std::string& path, const Verdict& verdict);

}  // namespace pagoda::device
