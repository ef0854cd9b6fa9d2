// Flights: a ring that returns steps in the order in which they were launched.
#include "engine/core/flights.h"

#include "support/test.h"

namespace pagoda::engine {
namespace {

PAGODA_TEST(flights_end_in_the_order_of_their_launch) {
  Flights flights(3, EngineLimits{.max_num_seqs = 2});
  CHECK(flights.overlap());
  int64_t launched = 0, landed = 0;
  for (int round = 0; round < 10; ++round) {  // around the ring several times
    while (flights.size() < static_cast<size_t>(1 + round % 3)) {
      flights.next().step_index = launched++;
      flights.push();
    }
    CHECK_EQ(flights.oldest().step_index, landed++);
    flights.pop();
  }
  while (!flights.is_empty()) {
    CHECK_EQ(flights.oldest().step_index, landed++);
    flights.pop();
  }
  CHECK_EQ(launched, landed);
  CHECK(!Flights(1, EngineLimits{}).overlap());
}

PAGODA_TEST(flights_keep_a_step_until_the_next_launch) {
  Flights flights(1, EngineLimits{.max_num_seqs = 2});
  flights.next().plan.sequences.push_back({.sequence = nullptr, .num_tokens = 7});
  flights.push();
  const Flight& flight = flights.oldest();
  flights.pop();  // its rows are committed after this
  CHECK_EQ(flight.plan.sequences.size(), 1u);
  CHECK_EQ(flight.plan.sequences[0].num_tokens, 7);
}

}  // namespace
}  // namespace pagoda::engine
