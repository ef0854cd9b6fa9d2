// The tests behind `is`.
#include "text/jinja/filters/filters.h"
#include "text/jinja/value/case.h"
#include "text/jinja/value/operations.h"
#include "text/jinja/value/print.h"
#include "text/jinja/value/strings.h"

namespace pagoda::text::jinja {
namespace {

using Op = Operator;

template <Op op>
bool test_compare(Runtime& rt, const Value& in, const Arguments& a) {
  return compare(rt, op, in, a.bind(rt, "test", {"other"}, 1)[0]);
}

bool remainder_is(Runtime& rt, const Value& in, const Value& divisor, int64_t wanted) {
  return equals(rt, arithmetic(rt, Op::modulo, in, divisor), Value::of_int(wanted));
}

template <bool lower>
bool test_case(Runtime& rt, const Value& in, const Arguments&) {
  return truthy(call_string_method(rt, to_str(rt, in), lower ? "islower" : "isupper", {}));
}

bool test_same(Runtime& rt, const Value& in, const Arguments& a) {
  const Value other = a.bind(rt, "sameas", {"other"}, 1)[0];
  if (in.kind != other.kind) return false;
  if (in.is_string()) return in.text == other.text;
  return in.is(Kind::real) ? in.real == other.real : in.is_none() || in.is_undefined() || in.integer == other.integer;
}

bool has_kind(const Value& value, std::initializer_list<Kind> kinds) {
  return std::find(kinds.begin(), kinds.end(), value.kind) != kinds.end();
}

struct Row {
  std::string_view name;
  Test test;
};

#define PAGODA_JINJA_TEST(expression)                            \
  [](Runtime& rt, const Value& in, const Arguments& a) -> bool { \
    (void)rt, (void)a;                                           \
    return expression;                                           \
  }

constexpr Row kTests[] = {
    {"defined", PAGODA_JINJA_TEST(!in.is_undefined())},
    {"undefined", PAGODA_JINJA_TEST(in.is_undefined())},
    {"none", PAGODA_JINJA_TEST(in.is_none())},
    {"boolean", PAGODA_JINJA_TEST(in.is(Kind::boolean))},
    {"true", PAGODA_JINJA_TEST(in.is(Kind::boolean) && in.integer != 0)},
    {"false", PAGODA_JINJA_TEST(in.is(Kind::boolean) && in.integer == 0)},
    {"integer", PAGODA_JINJA_TEST(in.is(Kind::integer))},
    {"float", PAGODA_JINJA_TEST(in.is(Kind::real))},
    {"number", PAGODA_JINJA_TEST(in.is_number())},
    {"string", PAGODA_JINJA_TEST(in.is_string())},
    {"mapping", PAGODA_JINJA_TEST(in.is(Kind::dict))},
    {"sequence", PAGODA_JINJA_TEST(
                     has_kind(in, {Kind::string, Kind::list, Kind::tuple, Kind::dict, Kind::range, Kind::undefined}))},
    {"iterable", PAGODA_JINJA_TEST(Items::is_iterable(in) || in.is(Kind::loop))},
    {"callable", PAGODA_JINJA_TEST(has_kind(in, {Kind::function, Kind::joiner, Kind::loop, Kind::undefined}))},
    {"escaped", PAGODA_JINJA_TEST(in.markup)},
    {"lower", test_case<true>},
    {"upper", test_case<false>},
    {"odd", PAGODA_JINJA_TEST(remainder_is(rt, in, Value::of_int(2), 1))},
    {"even", PAGODA_JINJA_TEST(remainder_is(rt, in, Value::of_int(2), 0))},
    {"divisibleby", PAGODA_JINJA_TEST(remainder_is(rt, in, a.bind(rt, "divisibleby", {"num"}, 1)[0], 0))},
    {"sameas", test_same},
    {"filter", PAGODA_JINJA_TEST(find_filter(in.bytes()) != nullptr)},
    {"test", PAGODA_JINJA_TEST(find_test(in.bytes()) != nullptr)},
    {"in", test_compare<Op::in>},
    {"==", test_compare<Op::equal>},
    {"eq", test_compare<Op::equal>},
    {"equalto", test_compare<Op::equal>},
    {"!=", test_compare<Op::not_equal>},
    {"ne", test_compare<Op::not_equal>},
    {">", test_compare<Op::greater>},
    {"gt", test_compare<Op::greater>},
    {"greaterthan", test_compare<Op::greater>},
    {">=", test_compare<Op::greater_equal>},
    {"ge", test_compare<Op::greater_equal>},
    {"<", test_compare<Op::less>},
    {"lt", test_compare<Op::less>},
    {"lessthan", test_compare<Op::less>},
    {"<=", test_compare<Op::less_equal>},
    {"le", test_compare<Op::less_equal>},
};
#undef PAGODA_JINJA_TEST

}  // namespace

Test find_test(std::string_view name) noexcept {
  for (const Row& row : kTests) {
    if (row.name == name) return row.test;
  }
  return nullptr;
}

}  // namespace pagoda::text::jinja
