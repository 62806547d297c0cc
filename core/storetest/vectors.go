package storetest

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

//go:embed vectors/*.json
var vectorFiles embed.FS

// vectorCase is a worked example: policies, and steps in order.
type vectorCase struct {
	Name     string         `json:"name"`
	Policies []vectorPolicy `json:"policies"`
	Steps    []vectorStep   `json:"steps"`
}

type vectorPolicy struct {
	Name          string `json:"name"`
	Algorithm     string `json:"algorithm"`
	Count         int64  `json:"count"`
	PeriodUS      int64  `json:"period_us"`
	Burst         int64  `json:"burst"`
	Buckets       int    `json:"buckets"`
	Police        bool   `json:"police"`
	LongestWaitUS int64  `json:"longest_wait_us"`
	DryRun        bool   `json:"dry_run"`
}

type vectorStep struct {
	NowUS int64    `json:"now_us"`
	Keys  []string `json:"keys"`
	Costs []int64  `json:"costs"`

	Allowed      bool             `json:"allowed"`
	RetryAfterUS int64            `json:"retry_after_us"`
	DelayUS      int64            `json:"delay_us"`
	Binding      int              `json:"binding"`
	Decisions    []vectorDecision `json:"policies"`

	Op     string `json:"op"`
	Step   int    `json:"step"`
	Actual int64  `json:"actual"`
	Policy int    `json:"policy"`
	Key    string `json:"key"`
	ForUS  int64  `json:"for_us"`
	Count  int64  `json:"count"`
}

type vectorDecision struct {
	Allowed      bool  `json:"allowed"`
	Remaining    int64 `json:"remaining"`
	RetryAfterUS int64 `json:"retry_after_us"` // -1: never
	ResetAfterUS int64 `json:"reset_after_us"`
	DelayUS      int64 `json:"delay_us"`
}

// vectors replays all files of worked decisions.
func vectors(t *testing.T, store core.Store) {
	files, err := vectorFiles.ReadDir("vectors")
	if err != nil || len(files) != 5 {
		t.Fatalf("%d files of vectors, want 5 (%v)", len(files), err)
	}
	total := 0
	for _, file := range files {
		cases := readVectors(t, file.Name())
		steps := 0
		for _, c := range cases {
			replay := replay{vectorCase: c, key: file.Name() + "/" + c.Name + "/"}
			t.Run(path.Join(file.Name(), c.Name), func(t *testing.T) {
				if c.Policies[0].PeriodUS < time.Millisecond.Microseconds() {
					replay.runIllegal(t, store)
					return
				}
				replay.run(t, store)
			})
			steps += len(c.Steps)
		}
		t.Logf("%s: %d cases, %d steps", file.Name(), len(cases), steps)
		total += steps
	}
	t.Logf("%d steps in all", total)
}

func readVectors(t *testing.T, name string) (cases []vectorCase) {
	text, err := vectorFiles.ReadFile("vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatalf("%s: %d cases (%v)", name, len(cases), err)
	}
	return cases
}

func (p vectorPolicy) policy(t *testing.T) core.Policy {
	made := core.Policy{
		Name:        p.Name,
		Limit:       core.Limit{Count: p.Count, Period: time.Duration(p.PeriodUS) * time.Microsecond, Burst: p.Burst},
		Algorithm:   algorithmNamed(t, p.Algorithm),
		Intervals:   p.Buckets,
		Police:      p.Police,
		LongestWait: time.Duration(p.LongestWaitUS) * time.Microsecond,
		DryRun:      p.DryRun,
	}
	if made.Algorithm != core.SlidingWindowCounter {
		made.Intervals = 0
	}
	return made
}

func algorithmNamed(t *testing.T, name string) core.Algorithm {
	for a := core.SlidingWindowCounter; a <= core.LeakyBucket; a++ {
		if a.String() == name {
			return a
		}
	}
	t.Fatalf("no algorithm is named %q", name)
	return 0
}

// replay plays one case on a store whose keys it keeps apart from other cases'.
type replay struct {
	vectorCase
	key     string
	limits  []core.Limit
	results []core.Result // by step
	*scene
}

func (r *replay) run(t *testing.T, store core.Store) {
	var policies []core.Policy
	for _, p := range r.Policies {
		policies = append(policies, p.policy(t))
		r.limits = append(r.limits, policies[len(policies)-1].Limit)
	}
	r.scene = newScene(t, store, policies...)
	r.results = make([]core.Result, len(r.Steps))
	for i, step := range r.Steps {
		r.us = step.NowUS
		if err := r.play(i, step); err != nil {
			t.Fatalf("step %d (%+v): %v", i, step, err)
		}
	}
}

// runIllegal plays a case of one policy whose period is too short to be built. The
// arithmetic holds all the same.
func (r *replay) runIllegal(t *testing.T, store core.Store) {
	p := r.Policies[0]
	if _, err := core.NewLimiter(store, p.policy(t)); !errors.Is(err, core.ErrInvalid) {
		t.Fatalf("a period of %d us is not refused: %v", p.PeriodUS, err)
	}
	legal := p
	legal.PeriodUS *= 1000
	made, err := legal.policy(t).Terms(core.Limit{Count: p.Count, Period: time.Duration(legal.PeriodUS) * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	terms := *made // of the same ticks, with a shorter period
	terms.Period, terms.Interval = made.Period/1000, made.Interval/1000
	asks := make([]core.Ask, len(r.Steps))
	for i, step := range r.Steps {
		now, ctx := time.UnixMicro(step.NowUS), context.Background()
		if step.Op == "refund" {
			if err := store.Adjust(ctx, now, asks[step.Step:step.Step+1], []int64{0}); err != nil {
				t.Fatal(err)
			}
			asks[step.Step].Charged = 0
			continue
		}
		asks[i] = core.Ask{Terms: &terms, Key: r.key + step.Keys[0], Cost: step.Costs[0], LongestWait: -1}
		if err := store.Take(ctx, now, asks[i:i+1]); err != nil {
			t.Fatal(err)
		}
		a := asks[i]
		have := vectorDecision{a.Allowed, a.Remaining, wait(a.RetryAfter, a.Never), a.ResetAfter.Microseconds(), a.Delay.Microseconds()}
		if have != step.Decisions[0] {
			t.Fatalf("step %d: got %+v, want %+v", i, have, step.Decisions[0])
		}
	}
}

func (r *replay) play(i int, step vectorStep) error {
	ctx := context.Background()
	switch step.Op {
	case "":
		return r.request(i, step)
	case "refund":
		return r.Refund(ctx, &r.results[step.Step])
	case "settle":
		return r.Settle(ctx, &r.results[step.Step], step.Actual)
	case "reset":
		return r.Reset(ctx, r.Policies[step.Policy].Name, r.key+step.Key)
	case "block":
		return r.Block(ctx, r.Policies[step.Policy].Name, r.key+step.Key, time.Duration(step.ForUS)*time.Microsecond)
	case "limit":
		r.limits[step.Policy].Count = step.Count
		return nil
	}
	return fmt.Errorf("no such op: %q", step.Op)
}

func (r *replay) request(i int, step vectorStep) (err error) {
	units := make([]core.Units, len(step.Keys))
	for j := range units {
		units[j] = core.Units{Key: r.key + step.Keys[j], Cost: step.Costs[j], Limit: r.limits[j]}
	}
	if r.results[i], err = r.Decide(context.Background(), units); err != nil {
		return err
	}
	return step.differs(&r.results[i])
}

// differs says where a result is not as the step expects it.
func (step *vectorStep) differs(got *core.Result) error {
	if got.Allowed != step.Allowed || wait(got.RetryAfter, got.Never) != step.RetryAfterUS ||
		got.Delay.Microseconds() != step.DelayUS || got.Binding != step.Binding {
		return fmt.Errorf("got allowed %v, retry %v (never %v), delay %v, binding %d; decisions %+v",
			got.Allowed, got.RetryAfter, got.Never, got.Delay, got.Binding, got.Decisions())
	}
	for j, want := range step.Decisions {
		d := got.Decision(j)
		have := vectorDecision{d.Allowed, d.Remaining, wait(d.RetryAfter, d.Never), d.ResetAfter.Microseconds(), d.Delay.Microseconds()}
		if have != want {
			return fmt.Errorf("policy %d: got %+v, want %+v", j, have, want)
		}
	}
	return nil
}

func wait(d time.Duration, never bool) int64 {
	if never {
		return -1
	}
	return d.Microseconds()
}
