package cases_test

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// monitor sees what a server is sent.
type monitor struct {
	addr  string
	conn  net.Conn
	lines *bufio.Scanner
}

func newMonitor(t *testing.T, addr string) *monitor {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, "MONITOR\r\n")
	m := &monitor{addr, conn, bufio.NewScanner(conn)}
	m.lines.Buffer(nil, 1<<20)
	m.lines.Scan() // +OK
	return m
}

var quotedWord = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)

// keysOfScripts are the KEYS of every script so far.
func (m *monitor) keysOfScripts(t *testing.T) (all [][]string) {
	t.Helper()
	const end = "that is all"
	client := redis.NewClient(&redis.Options{Addr: m.addr})
	defer client.Close()
	client.Echo(ctx, end)
	for m.lines.Scan() && !strings.Contains(m.lines.Text(), end) {
		var words []string
		for _, found := range quotedWord.FindAllStringSubmatch(m.lines.Text(), -1) {
			words = append(words, found[1])
		}
		if len(words) < 3 || !strings.EqualFold(words[0], "evalsha") && !strings.EqualFold(words[0], "eval") {
			continue
		}
		n, err := strconv.Atoi(words[2])
		if err != nil || n > len(words)-3 {
			t.Fatalf("a script with %q keys", words[2])
		}
		all = append(all, words[3:3+n])
	}
	if len(all) == 0 {
		t.Error("no script was seen")
	}
	return all
}
