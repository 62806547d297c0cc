package cases_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// proxy stands between clients and a server.
type proxy struct {
	listener    net.Listener
	upstream    string
	connections atomic.Int64
	replies     atomic.Int64
	delay       atomic.Int64 // of every reply, in nanoseconds
	dropEvery   atomic.Int64 // the n-th reply, and its connection; 0: none
}

func newProxy(t *testing.T, upstream string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &proxy{listener: listener, upstream: upstream}
	go accept(listener, p.serve)
	return p
}

func accept(listener net.Listener, serve func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go serve(conn)
	}
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) serve(conn net.Conn) {
	defer conn.Close()
	p.connections.Add(1)
	upstream, err := net.Dial("tcp", p.upstream)
	if err != nil {
		return
	}
	defer upstream.Close()
	go func() {
		_, _ = io.Copy(upstream, conn)
		upstream.Close()
	}()
	p.reply(conn, upstream)
}

// reply hands replies on until one is dropped: the server has done its part then.
func (p *proxy) reply(conn, upstream net.Conn) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := upstream.Read(chunk)
		if err != nil {
			return
		}
		time.Sleep(time.Duration(p.delay.Load()))
		if every := p.dropEvery.Load(); every > 0 && p.replies.Add(1)%every == 0 {
			return
		}
		if _, err := conn.Write(chunk[:n]); err != nil {
			return
		}
	}
}

// newFake is a server that answers every script with one reply, as RESP has it.
func newFake(t *testing.T, reply string) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go accept(listener, func(conn net.Conn) {
		defer conn.Close()
		for read := bufio.NewReader(conn); ; {
			name, err := readCommand(read)
			if err != nil {
				return
			}
			switch name {
			case "evalsha", "eval":
				fmt.Fprint(conn, reply)
			case "hello":
				fmt.Fprint(conn, "-ERR unknown command\r\n")
			case "script":
				fmt.Fprintf(conn, "$40\r\n%s\r\n", strings.Repeat("0", 40))
			default:
				fmt.Fprint(conn, "+OK\r\n")
			}
		}
	})
	return listener.Addr().String()
}

// readCommand reads a command and gives its name.
func readCommand(read *bufio.Reader) (name string, err error) {
	words, err := readNumber(read, '*')
	for i := 0; i < words && err == nil; i++ {
		var length int
		if length, err = readNumber(read, '$'); err != nil {
			break
		}
		word := make([]byte, length+2)
		_, err = io.ReadFull(read, word)
		if i == 0 {
			name = strings.ToLower(string(word[:length]))
		}
	}
	return name, err
}

func readNumber(read *bufio.Reader, kind byte) (int, error) {
	line, err := read.ReadString('\n')
	if err != nil || line[0] != kind {
		return 0, io.ErrUnexpectedEOF
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}
