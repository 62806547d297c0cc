package adaptertest

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// Here a real clock is tested: the waits are those of real requests.
var waits = []testCase{
	{name: "a leaky bucket spaces requests", run: spaced},
	{name: "hold", run: hold},
	{name: "hold gives up", run: holdGivesUp},
	{name: "hold together with a policy that refuses", run: holdAndRefuse},
	{name: "hold together with a policy that admits", run: holdAndAdmit},
	{name: "a deadline that is too near for the wait", run: nearDeadline},
	{name: "a deadline that has passed", run: passedDeadline},
	{name: "a client that leaves gives its turn back", run: leaves, writer: true},
}

// took makes a request and measures it.
func took(t *testing.T, url string, want int) time.Duration {
	t.Helper()
	start := time.Now()
	get(t, url, want)
	return time.Since(start)
}

func spaced(t *testing.T, d Driver) {
	url := d.Serve(t, app(&Options{}, core.PerSecond(10).LeakyBucket(3)))
	start := time.Now()
	get(t, url, 200, 200, 200)
	if all := time.Since(start); all < 195*time.Millisecond {
		t.Errorf("three requests took %v, want 200ms", all)
	}
	policed := d.Serve(t, app(&Options{}, core.PerMinute(1).LeakyBucket(3).Policing()))
	start = time.Now()
	get(t, policed, 200, 200, 200, 429)
	if all := time.Since(start); all > 2*time.Second {
		t.Errorf("policed requests took %v", all)
	}
}

func hold(t *testing.T, d Driver) {
	url := d.Serve(t, app(&Options{}, core.PerSecond(5).TokenBucket(1).Holding(2*time.Second)))
	get(t, url, 200)
	if held := took(t, url, 200); held < 150*time.Millisecond || held > 3*time.Second {
		t.Errorf("held for %v, want about 200ms", held)
	}
}

func holdGivesUp(t *testing.T, d Driver) {
	url := d.Serve(t, app(&Options{}, core.PerMinute(1).TokenBucket(1).Holding(100*time.Millisecond)))
	get(t, url, 200)
	if held := took(t, url, 429); held > 5*time.Second {
		t.Errorf("answered after %v, want at once: no wait helps", held)
	}
	costly := core.PerSecond(5).Holding(time.Second).Costing(func(core.Request) (int64, error) { return 9, nil })
	get(t, d.Serve(t, app(&Options{}, costly)), 429)
}

func holdAndRefuse(t *testing.T, d Driver) {
	url := d.Serve(t, app(&Options{}, core.PerHour(1).Named("refuses"), core.PerHour(1).Named("holds").Holding(time.Minute)))
	get(t, url, 200)
	if held := took(t, url, 429); held > 5*time.Second {
		t.Errorf("answered after %v, want at once: one refuses", held)
	}
}

// holdAndAdmit: also where the store remembers the refusal and asks nobody else.
func holdAndAdmit(t *testing.T, d Driver) {
	url := d.Serve(t, app(&Options{}, core.PerHour(100).Named("admits"), core.PerSecond(5).TokenBucket(1).Named("holds").Holding(10*time.Second)))
	statuses := make(chan int, 4)
	for range 4 {
		go func() { statuses <- send(t, "GET", url).status }()
		time.Sleep(20 * time.Millisecond) // each meets the refusal of the one before
	}
	for range 4 {
		if status := <-statuses; status != 200 {
			t.Errorf("status %d, want 200 after a while", status)
		}
	}
}

func leaves(t *testing.T, d Driver) {
	var calls atomic.Int64
	a := app(&Options{}, core.Per(1, time.Minute).LeakyBucket(3).Costing(func(r core.Request) (int64, error) {
		if r.Query("peek") != "" {
			return 0, nil
		}
		return 1, nil
	}))
	a.Routes[0].Handler = counted(&calls)
	url := d.Serve(t, a)
	get(t, url, 200)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultTransport.RoundTrip(request); err == nil {
		response.Body.Close()
		t.Fatalf("status %d, want to leave while held", response.StatusCode)
	}
	// The server learns of it a moment later.
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got := get(t, url+"/?peek=1", 200)
		if got.header.Get("RateLimit-Remaining") == "2" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s of the queue left, want the turn back", got.header.Get("RateLimit-Remaining"))
		}
	}
	if peeks := calls.Load(); peeks < 2 {
		t.Errorf("the handler ran %d times", peeks)
	}
}

// within gives each request a deadline.
func within(t *testing.T, d time.Duration) func(Call) {
	return func(c Call) {
		ctx, cancel := context.WithTimeout(c.Context(), d)
		t.Cleanup(cancel)
		c.SetContext(ctx)
	}
}

// nearDeadline: who cannot be served in time is refused at once, and not charged.
func nearDeadline(t *testing.T, d Driver) {
	for _, c := range []struct {
		policy core.Policy
		left   string
	}{
		{core.PerMinute(1).LeakyBucket(3), "2"},
		{core.PerMinute(1).LeakyBucket(3).WaitingAtMost(time.Second), "2"},
		{core.PerMinute(1).TokenBucket(1).Holding(time.Hour), "0"},
	} {
		a := app(&Options{}, c.policy)
		a.Outer = within(t, 10*time.Second)
		url := d.Serve(t, a)
		get(t, url, 200)
		if waited := took(t, url, 429); waited > 5*time.Second {
			t.Errorf("answered after %v, want at once", waited)
		}
		get(t, url, 429).wantField(t, "RateLimit-Remaining", c.left)
	}
}

// passedDeadline: it is no fault of the store, and nothing is charged.
func passedDeadline(t *testing.T, d Driver) {
	var calls atomic.Int64
	var passed atomic.Bool
	passed.Store(true)
	a := app(fixed(), core.PerMinute(5).FixedWindow())
	a.Routes[0].Handler = counted(&calls)
	a.Outer = func(c Call) {
		if passed.Load() {
			within(t, -time.Second)(c)
		}
	}
	url := d.Serve(t, a)
	get(t, url, 503, 503)
	passed.Store(false)
	get(t, url, 200).wantField(t, "RateLimit-Remaining", "4")
	if n := calls.Load(); n != 1 {
		t.Errorf("the handler ran %d times, want once", n)
	}
}
