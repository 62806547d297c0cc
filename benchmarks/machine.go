package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// machine says on what, and against which versions, it was measured.
func machine(began time.Time) [][]string {
	return [][]string{
		{"measured", began.Format("2006-01-02") + ", in " + time.Since(began).Round(time.Second).String()},
		{"processor", fmt.Sprintf("%s, %d cores", processor(), runtime.GOMAXPROCS(0))},
		{"system", runtime.GOOS + "/" + runtime.GOARCH},
		{"Go", strings.TrimPrefix(runtime.Version(), "go")},
		{"Redis", redisVersion() + ", on loopback, sharing the cores"},
		{"versions", versions()},
	}
}

func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH // not on Linux
	}
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func redisVersion() string {
	out, err := exec.Command("redis-server", "--version").Output()
	if err != nil {
		return "none"
	}
	for _, word := range strings.Fields(string(out)) {
		if version, ok := strings.CutPrefix(word, "v="); ok {
			return version
		}
	}
	return "unknown"
}

// compared are the modules whose versions matter to the figures.
var compared = []string{
	"golang.org/x/time", "github.com/sethvargo/go-limiter", "github.com/ulule/limiter/v3", "github.com/throttled/throttled/v2",
	"github.com/didip/tollbooth/v8", "github.com/go-chi/httprate", "github.com/go-chi/httprate-redis", "github.com/go-redis/redis_rate/v10",
	"github.com/redis/go-redis/v9", "github.com/gin-gonic/gin", "github.com/labstack/echo/v4", "github.com/gofiber/fiber/v2", "github.com/go-chi/chi/v5",
}

func versions() string {
	info, ok := debug.ReadBuildInfo()
	check(ok, "built without module information")
	byPath := map[string]string{}
	for _, module := range info.Deps {
		byPath[module.Path] = module.Version
	}
	var known []string
	for _, path := range compared {
		if version := byPath[path]; version != "" {
			known = append(known, strings.TrimPrefix(path, "github.com/")+" "+version)
		}
	}
	return strings.Join(known, ", ")
}
