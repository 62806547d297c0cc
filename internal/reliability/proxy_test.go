package reliability

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

// fault is what a proxy does to every ninth command or reply of a connection, where it
// is not said that it does so to all.
type fault int32

const (
	none          fault = iota
	cutCommand          // the connection ends before the command reaches the server
	cutReply            // it ends before the reply: the command was executed
	cutInside           // it ends within the reply
	cutBehind           // it ends behind the reply
	delayReply          // the reply comes after the deadline
	delayCommands       // all commands come late
	shortestDelay = 80 * time.Millisecond
)

// proxy stands between clients and a server.
type proxy struct {
	net.Listener
	upstream atomic.Value // the address of new connections
	fault    atomic.Int32
	count    atomic.Int64 // of what could be disturbed
	faults   atomic.Int64 // of what was
}

func newProxy(t testing.TB, upstream string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &proxy{Listener: listener}
	p.upstream.Store(upstream)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p
}

func (p *proxy) serve(conn net.Conn) {
	defer conn.Close()
	upstream, err := net.Dial("tcp", p.upstream.Load().(string))
	if err != nil {
		return
	}
	defer upstream.Close()
	go func() {
		defer conn.Close()
		defer upstream.Close()
		p.pump(upstream, conn, p.command)
	}()
	p.pump(conn, upstream, p.reply)
}

// pump hands on what comes until the hand refuses.
func (p *proxy) pump(to io.Writer, from io.Reader, hand func(io.Writer, []byte) bool) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		if err != nil || !hand(to, chunk[:n]) {
			return
		}
	}
}

// strikes reports whether the fault is now to happen.
func (p *proxy) strikes(kinds ...fault) (fault, bool) {
	now := fault(p.fault.Load())
	for _, kind := range kinds {
		if now == kind && p.count.Add(1)%9 == 0 {
			p.faults.Add(1)
			return now, true
		}
	}
	return none, false
}

func (p *proxy) command(to io.Writer, chunk []byte) bool {
	if _, now := p.strikes(cutCommand); now {
		return false
	}
	if fault(p.fault.Load()) == delayCommands {
		time.Sleep(shortestDelay)
	}
	_, err := to.Write(chunk)
	return err == nil
}

func (p *proxy) reply(to io.Writer, chunk []byte) bool {
	kind, now := p.strikes(cutReply, cutInside, cutBehind, delayReply)
	switch {
	case now && kind == cutReply:
		return false
	case now && kind == cutInside:
		chunk = chunk[:len(chunk)/2]
	case now && kind == delayReply:
		time.Sleep(shortestDelay)
	}
	_, err := to.Write(chunk)
	return err == nil && !(now && (kind == cutInside || kind == cutBehind))
}
