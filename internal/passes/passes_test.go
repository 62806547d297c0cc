package passes

import (
	"testing"
	"time"
)

func TestMost(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	for name, c := range map[string]struct {
		passes [][2]int // asked, answered
		want   int
	}{
		"none":                              {nil, 0},
		"one":                               {[][2]int{{0, 1}}, 1},
		"all in a window":                   {[][2]int{{0, 1}, {5, 6}, {99, 99}}, 3},
		"a whole window apart":              {[][2]int{{0, 1}, {100, 100}}, 1},
		"asked in it, answered after it":    {[][2]int{{0, 1}, {99, 101}}, 1},
		"in any order":                      {[][2]int{{250, 251}, {0, 1}, {200, 201}, {299, 299}}, 3},
		"a slow one around two quick":       {[][2]int{{0, 300}, {10, 20}, {30, 40}}, 2},
		"the second window is the fullest":  {[][2]int{{0, 1}, {150, 151}, {160, 161}}, 2},
		"between two windows that are full": {[][2]int{{0, 1}, {90, 91}, {110, 111}, {120, 121}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var passes []Pass
			for _, p := range c.passes {
				passes = append(passes, Pass{at(p[0]), at(p[1])})
			}
			if most := Most(passes, 100*time.Millisecond); most != c.want {
				t.Errorf("%d, want %d", most, c.want)
			}
		})
	}
}
