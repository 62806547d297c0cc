package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// kind says what a contender stands for in a table.
type kind int

const (
	ours  kind = iota
	peer       // what a user would pick instead
	floor      // work that no limiter can do without
)

// entry is one contender's line in a table.
type entry struct {
	name   string
	kind   kind
	sample sample
	allocs float64  // for each operation, where they are counted
	extra  []string // the table's other columns
}

// target is a numbered line of what must be reached.
type target struct {
	line, what string
	got, want  float64
	atLeast    bool
	unit       string
}

func (t target) met() bool {
	if t.atLeast {
		return t.got >= t.want
	}
	return t.got <= t.want
}

// report gathers the results of all groups.
type report struct {
	settings settings
	quick    bool
	began    time.Time
	targets  []target
	body     strings.Builder
}

func (r *report) atMost(line, what string, want, got float64, unit string) {
	r.add(target{line: line, what: what, want: want, got: got, unit: unit})
}

func (r *report) atLeast(line, what string, want, got float64, unit string) {
	r.add(target{line: line, what: what, want: want, got: got, unit: unit, atLeast: true})
}

func (r *report) add(t target) {
	r.targets = append(r.targets, t)
	progress("  %s %s: %s (target %s)", t.line, t.what, figure(t.got)+t.unit, t.goal())
}

func (t target) goal() string {
	if t.atLeast {
		return "≥ " + figure(t.want) + t.unit
	}
	return "≤ " + figure(t.want) + t.unit
}

func (r *report) title(text string) { fmt.Fprintf(&r.body, "\n## %s\n", text) }

// ranking writes a table, fastest first, with the ratio to the fastest peer.
func (r *report) ranking(title, about, unit string, columns []string, entries []entry) {
	best := fastest(entries)
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b entry) int {
		return int(1000 * (a.sample.median() - b.sample.median()))
	})
	head := append([]string{"", unit + ", median", "min–max", "to the fastest peer"}, columns...)
	rows := make([][]string, 0, len(sorted))
	for _, e := range sorted {
		ratio := "–"
		if best.sample != nil {
			ratio = figure(e.sample.over(best.sample).median())
		}
		row := []string{e.label(), figure(e.sample.median()), e.sample.spread(), ratio}
		rows = append(rows, append(row, e.extra...))
	}
	r.table(title, about, head, rows)
}

func (e entry) label() string {
	switch e.kind {
	case ours:
		return "**" + e.name + "**"
	case floor:
		return "*" + e.name + "* (floor)"
	}
	return e.name
}

func (s sample) spread() string { return figure(s.min()) + "–" + figure(s.max()) }

// fastest is the peer with the least median.
func fastest(entries []entry) (best entry) {
	for _, e := range entries {
		if e.kind == peer && (best.sample == nil || e.sample.median() < best.sample.median()) {
			best = e
		}
	}
	return best
}

// named is the entry of a name.
func named(entries []entry, name string) entry {
	for _, e := range entries {
		if e.name == name {
			return e
		}
	}
	panic("no entry " + name)
}

// ratio is the median ratio of the entry of a name to another's sample.
func ratio(entries []entry, name string, other sample) float64 {
	return named(entries, name).sample.over(other).median()
}

// table writes a table of text.
func (r *report) table(title, about string, head []string, rows [][]string) {
	fmt.Fprintf(&r.body, "\n### %s\n\n", title)
	if about != "" {
		r.body.WriteString(about + "\n\n")
	}
	writeTable(&r.body, head, rows)
}

func writeTable(b *strings.Builder, head []string, rows [][]string) {
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, row := range rows {
		line(row)
	}
}

func (r *report) markdown() string {
	var b strings.Builder
	b.WriteString("# Results\n\nWritten by `make bench`. ")
	if r.quick {
		b.WriteString("**A smoke run (`-quick`): these figures say nothing.** ")
	}
	fmt.Fprintf(&b, "All contenders did the same work in the same run, in turn: %d rounds. Figures are medians of the rounds; "+
		"ratios are taken round by round, and are what to compare: times depend on the machine.\n\n", r.settings.rounds)
	writeTable(&b, []string{"", ""}, machine(r.began))
	b.WriteString("\n## What must be reached\n\n")
	writeTable(&b, []string{"line", "what", "target", "figure", "met"}, r.verdicts())
	b.WriteString(r.body.String())
	return b.String()
}

func (r *report) verdicts() [][]string {
	rows := make([][]string, 0, len(r.targets))
	slices.SortStableFunc(r.targets, func(a, b target) int { return strings.Compare(a.line, b.line) })
	for _, t := range r.targets {
		met := "**no**"
		if t.met() {
			met = "yes"
		}
		rows = append(rows, []string{t.line, t.what, t.goal(), figure(t.got) + t.unit, met})
	}
	return rows
}

// figure writes three digits of a number.
func figure(n float64) string {
	switch abs := max(n, -n); {
	case abs >= 1e5:
		return fmt.Sprintf("%.0fk", n/1000)
	case abs >= 100:
		return fmt.Sprintf("%.0f", n)
	case abs >= 10:
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.2f", n)
}
