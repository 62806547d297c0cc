package tally

import (
	"time"

	"github.com/ratelimit-go/ratelimit/pipeline"
)

// manyKeys of one policy in an hour are pointed out.
const manyKeys = 1_000_000

// wake notes that requests come, and starts the minute's timer.
func (t *Tally) wake() {
	t.busy.Store(true)
	if t.armed.CompareAndSwap(false, true) {
		time.AfterFunc(time.Minute, t.minute)
	}
}

// minute ends a minute, and is called again after the next unless none has come in
// this one.
func (t *Tally) minute() {
	wasBusy := t.busy.Swap(false)
	newHour := t.minutes.Add(1)%60 == 0
	t.byName.Range(func(_, known any) bool {
		t.endMinute(known.(*policy), newHour)
		return true
	})
	if wasBusy {
		time.AfterFunc(time.Minute, t.minute)
		return
	}
	t.armed.Store(false)
	if t.busy.Load() { // a request came meanwhile and found it armed
		t.wake()
	}
}

func (t *Tally) endMinute(p *policy, newHour bool) {
	p.last.Store(p.seen.estimate())
	p.hour.merge(&p.seen)
	p.seen.reset()
	if p.hour.estimate() > manyKeys && !p.manyTold.Swap(true) {
		t.pointOut(p)
	}
	if newHour {
		p.hour.reset()
	}
	p.clients.minute(func(refused, asked int64) {
		share := float64(refused) / float64(asked)
		p.rejected.observe(share)
		if t.options.OnMinute != nil {
			t.options.OnMinute(p.name, share)
		}
	})
}

// pointOut says once for each policy that it has too many keys.
func (t *Tally) pointOut(p *policy) {
	advice := pipeline.ManyKeys
	t.options.Logger.Warn("ratelimit: "+advice.Text(), "advice", string(advice), "policy", p.name, "see", "docs/advice.md#"+string(advice))
	t.Advised(advice)
}
