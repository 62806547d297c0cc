// Package run is what the example apps have in common beside their policies: the
// flags, the store, and a server that drains when it is told to end.
package run

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
)

// Server is what [http.Server] and its like have.
type Server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
}

// HTTP is a server of a handler.
func HTTP(handler http.Handler) Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
}

// Main serves what build makes until SIGINT or SIGTERM, then drains. The store is
// nil for one in memory.
func Main(build func(core.Store) Server) {
	addr := flag.String("addr", ":8080", "address to listen on")
	servers := flag.String("redis", "", "a redis:// URL, or host:port,host:port of a cluster; in memory without it")
	flag.Parse()
	if err := serve(*addr, *servers, build); err != nil {
		log.Fatal(err)
	}
}

func serve(addr, servers string, build func(core.Store) Server) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	shared, err := store(servers)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	url := "http://" + reachable(listener.Addr())
	fmt.Println("listening on", url)
	for _, try := range []string{"window", "exact", "smooth", "burst", "steady", "users/1", "pay", "report?size=60", "metrics"} {
		fmt.Printf("try: curl -i '%s/%s'\n", url, try)
	}
	fmt.Printf("try: curl -i -d 'user=ann&password=guess' %s/login\n\n", url)

	server := build(shared)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return server.Shutdown(drain)
}

// reachable is an address to ask, also where all of the machine's are listened on.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return addr.String()
}

// store is in Redis, or nil. Redis need not be there yet.
func store(servers string) (core.Store, error) {
	if servers == "" {
		return nil, nil
	}
	// A busy laptop stalls for longer than a server: the default is 100 ms.
	options := []redisstore.Option{redisstore.Prefix("example"), redisstore.Timeout(500 * time.Millisecond)}
	if !strings.Contains(servers, "://") {
		cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(servers, ","), ContextTimeoutEnabled: true})
		return redisstore.New(cluster, options...), nil
	}
	client, err := redis.ParseURL(servers)
	if err != nil {
		return nil, err
	}
	client.ContextTimeoutEnabled = true
	return redisstore.New(redis.NewClient(client), options...), nil
}
