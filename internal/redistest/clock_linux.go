package redistest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// library adds an offset, read from a file, to the wall clock of a process. Its
// monotonic clock goes on as it does.
const library = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long offset(void) { long s = 0; FILE *f = fopen(getenv("CLOCK_OFFSET"), "r"); if (f) { if (fscanf(f, "%ld", &s) != 1) s = 0; fclose(f); } return s; }
int clock_gettime(clockid_t id, struct timespec *t) {
	static int (*real)(clockid_t, struct timespec *); if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
	int r = real(id, t); if (id == CLOCK_REALTIME) t->tv_sec += offset(); return r; }
int gettimeofday(struct timeval *v, void *z) {
	struct timespec t; (void)z; clock_gettime(CLOCK_REALTIME, &t); v->tv_sec = t.tv_sec; v->tv_usec = t.tv_nsec / 1000; return 0; }
time_t time(time_t *p) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); if (p) *p = t.tv_sec; return t.tv_sec; }
`

// Clock is the wall clock of a server, which a test can set.
type Clock struct {
	file string
}

// StartWithClock is [Start] of a server whose wall clock can be set. It needs gcc. It
// is not for parallel tests, and the server is not to be restarted.
func StartWithClock(t testing.TB, config ...string) (*Server, *Clock) {
	t.Helper()
	dir := t.TempDir()
	clock := &Clock{file: filepath.Join(dir, "offset")}
	clock.Set(0)
	source, object := filepath.Join(dir, "clock.c"), filepath.Join(dir, "clock.so")
	if err := os.WriteFile(source, []byte(library), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("gcc", "-shared", "-fPIC", "-o", object, source, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("a clock that can be set needs gcc: %v: %s", err, output)
	}
	defer setenv("CLOCK_OFFSET", clock.file)()
	defer setenv("LD_PRELOAD", object)()
	return Start(t, config...), clock
}

// setenv sets a variable for the children that are started, until it is undone.
func setenv(name, value string) (undo func()) {
	before, was := os.LookupEnv(name)
	must(os.Setenv(name, value))
	return func() {
		if !was {
			must(os.Unsetenv(name))
			return
		}
		must(os.Setenv(name, before))
	}
}

// Set puts the clock a number of whole seconds ahead of the true time; below 0, behind.
func (c *Clock) Set(ahead time.Duration) {
	next := c.file + ".next" // a rename, since the server may be reading
	must(os.WriteFile(next, fmt.Appendf(nil, "%d\n", int64(ahead/time.Second)), 0o600))
	must(os.Rename(next, c.file))
}
