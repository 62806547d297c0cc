package tally

import "sync/atomic"

// Histogram counts values by their size. It is safe for concurrent use, and takes
// no lock.
type Histogram struct {
	bounds []float64 // ascending; a last one, of all, goes without saying
	counts []atomic.Int64
	sum    atomic.Int64 // in parts of scale
	scale  float64
}

// newHistogram makes one whose sum is kept in parts of 1/scale.
func newHistogram(scale float64, bounds ...float64) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Int64, len(bounds)+1), scale: scale}
}

func (h *Histogram) observe(v float64) {
	i := len(h.bounds) // from the end: most clients have nearly all of their limit left
	for i > 0 && v <= h.bounds[i-1] {
		i--
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(v * h.scale))
}

// Read gives the number of values, their sum, and for each bound the number of
// values up to it.
func (h *Histogram) Read() (count uint64, sum float64, buckets map[float64]uint64) {
	buckets = make(map[float64]uint64, len(h.bounds))
	for i := range h.counts {
		count += uint64(h.counts[i].Load())
		if i < len(h.bounds) {
			buckets[h.bounds[i]] = count
		}
	}
	return count, float64(h.sum.Load()) / h.scale, buckets
}

// DurationBounds are those of histograms of waits and of stores, in seconds.
func DurationBounds() []float64 {
	return []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
}

// ShareBounds are those of histograms of ratios, from 0 to 1.
func ShareBounds() []float64 { return []float64{0, .01, .05, .1, .25, .5, .75, .9, 1} }

func durations() *Histogram { return newHistogram(1e9, DurationBounds()...) }

func shares() *Histogram { return newHistogram(1e4, ShareBounds()...) }
