package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// mostShown are the slowest answers that a report tells of.
const mostShown = 5

func (l *load) report(workers int, warm, last usage) {
	took := time.Since(l.began)
	fmt.Printf("%s, %v with %d callers on %d processors, %s; one fault every %v.\n\n", l.began.UTC().Format(time.DateTime+" MST"), took.Round(time.Second), workers,
		runtime.GOMAXPROCS(0), runtime.Version(), (took / time.Duration(len(l.strikes))).Round(time.Second))
	fmt.Println("| fault | strikes | asked | not decided | whole again, seconds after the mend |\n|---|---|---|---|---|")
	for _, f := range faults {
		fmt.Println(l.row(f.name))
	}
	fmt.Printf("\n| | when warm | at the end |\n|---|---|---|\n| heap | %d KiB | %d KiB |\n| goroutines | %d | %d |\n| connections | %d | %d |\n\n",
		warm.heap>>10, last.heap>>10, warm.goroutines, last.goroutines, warm.connections, last.connections)
	fmt.Printf("- %d requests, %.0f a second; %d were not decided.\n", l.asked, float64(l.asked)/took.Seconds(), l.failed)
	fmt.Printf("- Admitted of a key in any second: %d at most, at a limit of %d.\n", l.most, limit)
	fmt.Printf("- A goroutine that wakes every millisecond was late by %v at worst; all waits for a processor but one in 100,000 were below %v, and all below %v.\n",
		l.heart.Worst().Round(time.Millisecond), l.waits.longest(1e-5), l.waits.longest(0))
	l.reportSlow()
}

// row is what came of a fault. Where a recovery took long, it tells for how long the
// machine stood still around the last failure.
func (l *load) row(fault string) string {
	var sum strike
	var recoveries []string
	for _, s := range l.strikes {
		if s.fault != fault {
			continue
		}
		sum.asked, sum.failed = sum.asked+s.asked, sum.failed+s.failed
		text := fmt.Sprintf("%.2f", s.recovery.Seconds())
		if s.recovery > time.Second {
			text += fmt.Sprintf(" (the machine stood still for %.2f)", s.still.Seconds())
		}
		recoveries = append(recoveries, text)
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %s |", fault, len(recoveries), sum.asked, sum.failed, strings.Join(recoveries, ", "))
}

func (l *load) reportSlow() {
	fmt.Printf("- Answers that took longer than %v: %d, of which without the machine standing still: %d.\n", deadline+grace, len(l.slow), l.late())
	slices.SortFunc(l.slow, func(a, b answer) int { return cmp.Compare(b.took(), a.took()) })
	for _, a := range l.slow[:min(len(l.slow), mostShown)] {
		fmt.Printf("  - %v (%s), of which the machine stood still for %v\n", a.took().Round(time.Millisecond), a.fault,
			l.heart.Missed(a.Asked, a.Answered).Round(time.Millisecond))
	}
}

// late are the answers that the machine does not excuse.
func (l *load) late() (n int) {
	for _, a := range l.slow {
		if a.took() > deadline+grace+2*l.heart.Missed(a.Asked, a.Answered) {
			n++
		}
	}
	return n
}

func (l *load) verdict(warm, last usage) error {
	switch {
	case l.most > limit:
		return fmt.Errorf("%d admitted in a window, at a limit of %d", l.most, limit)
	case l.most < limit*9/10:
		return errors.New("the limit was never reached: give more workers")
	case l.late() > 0:
		return fmt.Errorf("%d answers were late, and the machine did not stand still", l.late())
	case last.grownFrom(warm):
		return fmt.Errorf("it grows: %+v, then %+v", warm, last)
	}
	return nil
}
