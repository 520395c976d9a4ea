// SPDX-License-Identifier: BSL-1.0
//
// Only a TimedEvent takes the time.
#include <culvert/elapsed.hpp>
#include <culvert/stream.hpp>

void time_it(culvert::Stream& stream) {
  using culvert::elapsed;
  using culvert::try_elapsed;
  const culvert::Event event = stream.record();
  const culvert::TimedEvent start = stream.record_timed();
  const culvert::TimedEvent stop = stream.record_timed();
  (void)elapsed(start, stop);
  (void)try_elapsed(start, stop);

#ifdef CASE_ELAPSED_OF_EVENTS  // error: only a TimedEvent takes the time: use stream.record_timed
  (void)elapsed(event, event);
#endif
#ifdef CASE_ELAPSED_FROM_EVENT  // error: only a TimedEvent takes the time: use stream.record_timed
  (void)elapsed(event, stop);
#endif
#ifdef CASE_ELAPSED_TO_EVENT  // error: only a TimedEvent takes the time: use stream.record_timed
  (void)elapsed(start, event);
#endif
#ifdef CASE_ELAPSED_TO_TEMPORARY  // error: only a TimedEvent takes the time: use stream.record_timed
  (void)elapsed(start, stream.record());
#endif
#ifdef CASE_TRY_ELAPSED_FROM_EVENT  // error: only a TimedEvent takes the time: use stream.record_timed
  (void)try_elapsed(event, stop);
#endif
#ifdef CASE_TRY_ELAPSED_TO_EVENT  // error: only a TimedEvent takes the time: use stream.record_timed
  (void)try_elapsed(start, event);
#endif
}
