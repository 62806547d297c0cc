// Package policies has the policies that tests of all algorithms share.
package policies

import (
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// OneOfEach is a policy of each algorithm, of one capacity. A store that is away is an
// error: no memory stands in.
func OneOfEach(count int64, period time.Duration) []core.Policy {
	all := []core.Policy{
		core.Per(count, period).FixedWindow().Named("fixed"),
		core.Per(count, period).SlidingWindowLog().Named("log"),
		core.Per(count, period).Named("counter"),
		core.Per(count, period).TokenBucket(count).Named("token"),
		core.Per(count, period).LeakyBucket(count).Named("leaky"),
	}
	for i := range all {
		all[i] = all[i].WhenStoreAway(core.Closed)
	}
	return all
}
