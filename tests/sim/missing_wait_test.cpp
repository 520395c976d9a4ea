// SPDX-License-Identifier: BSL-1.0
// An ordering bug becomes wrong bytes: the late schedule or one of 100 seeds shows each missing
// wait, and the correct twin passes under 1,000 seeds.
#include <culvert/sim/explore.hpp>

#include <string>

#include "missing_waits.hpp"
#include "sim_fixture.hpp"

namespace {

class MissingWaitTest : public SimTest, public testing::WithParamInterface<MissingWait> {
 protected:
  static sim::ExploreOptions options() {
    sim::ExploreOptions options;
    options.config = strict();
    options.report = false;
    return options;
  }
};

TEST_P(MissingWaitTest, IsShown) {
  const auto body = [] { return GetParam().run(false); };
  sim::reset(strict());
  std::string shown_by;
  if (!body()) {
    shown_by = "late";
  } else {
    const sim::Exploration found = sim::explore(100, body, options());
    EXPECT_FALSE(found.passed);
    EXPECT_TRUE(found.replayed);
    shown_by = "seed " + std::to_string(found.failing_seed);
  }
  RecordProperty("shown_by", shown_by);
}

TEST_P(MissingWaitTest, TheTwinThatWaitsPasses) {
  const auto body = [] { return GetParam().run(true); };
  sim::reset(strict());
  EXPECT_TRUE(body());
  const sim::Exploration found = sim::explore(1000, body, options());
  EXPECT_TRUE(found.passed) << "seed " << found.failing_seed << ": " << found.failure;
  EXPECT_EQ(found.runs, 1000U);
}

INSTANTIATE_TEST_SUITE_P(All, MissingWaitTest, testing::ValuesIn(missing_waits()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
