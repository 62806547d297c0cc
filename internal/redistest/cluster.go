package redistest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// slots is the number of a cluster's slots.
const slots = 16_384

// Cluster is a Redis Cluster of its own: three masters that share the slots evenly,
// in order, and their replicas.
type Cluster struct {
	// Masters are those that were masters at the start.
	Masters []*Server
	// Replicas are as many for each master, those of the first one first.
	Replicas []*Server
}

// StartCluster starts a cluster of three masters with a number of replicas each, and
// waits until it is whole. It ends with the test. Config is as for [Start].
func StartCluster(t testing.TB, replicas int, config ...string) *Cluster {
	t.Helper()
	c := &Cluster{}
	for range 3 {
		c.Masters = append(c.Masters, startNode(t, config))
	}
	for i, master := range c.Masters {
		if err := c.join(i, master); err != nil {
			t.Fatal(err)
		}
	}
	c.await(t, c.Masters)
	for _, master := range c.Masters {
		for range replicas {
			replica := startNode(t, config)
			c.Replicas = append(c.Replicas, replica)
			if err := c.follow(replica, master); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.await(t, append(c.Masters, c.Replicas...))
	return c
}

// startNode starts a server that is to be a part of a cluster. Nodes speak to each
// other at a port of their own, which is 10,000 above unless it is told.
func startNode(t testing.TB, config []string) *Server {
	t.Helper()
	bus, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(bus)
	if err != nil {
		t.Fatal(err)
	}
	own := []string{"--cluster-enabled", "yes", "--cluster-port", port, "--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"}
	return Start(t, append(own, config...)...)
}

// join gives a master its third of the slots, and has it meet the first one.
func (c *Cluster) join(i int, master *Server) error {
	client := master.Client()
	defer client.Close()
	first, last := i*slots/3, (i+1)*slots/3-1
	if err := client.ClusterAddSlotsRange(context.Background(), first, last).Err(); err != nil {
		return err
	}
	if err := client.Do(context.Background(), "cluster", "set-config-epoch", i+1).Err(); err != nil {
		return err
	}
	return c.meet(client)
}

// meet introduces a node to the first master, at both of its ports.
func (c *Cluster) meet(client *redis.Client) error {
	first := c.Masters[0]
	host, port, err := net.SplitHostPort(first.Addr())
	if err != nil {
		return err
	}
	return client.Do(context.Background(), "cluster", "meet", host, port, first.option("--cluster-port")).Err()
}

// follow makes a node a replica of a master.
func (c *Cluster) follow(replica, master *Server) error {
	client, other := replica.Client(), master.Client()
	defer client.Close()
	defer other.Close()
	if err := c.meet(client); err != nil {
		return err
	}
	id, err := other.ClusterMyID(context.Background()).Result()
	if err != nil {
		return err
	}
	for end := time.Now().Add(startTime); ; time.Sleep(20 * time.Millisecond) {
		err := client.ClusterReplicate(context.Background(), id).Err()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// await waits until every node sees the whole cluster, and replicas have their data.
func (c *Cluster) await(t testing.TB, nodes []*Server) {
	t.Helper()
	for _, node := range nodes {
		client := node.Client()
		defer client.Close()
		for end := time.Now().Add(startTime); ; time.Sleep(20 * time.Millisecond) {
			info, err := client.ClusterInfo(context.Background()).Result()
			if strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r\n", len(nodes))) && node.synced(client) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the cluster does not form: %v, %s", err, info)
			}
		}
	}
}

// synced reports that a node is a master, or a replica that follows its own.
func (s *Server) synced(client *redis.Client) bool {
	info, err := client.Info(context.Background(), "replication").Result()
	return err == nil && (strings.Contains(info, "role:master") || strings.Contains(info, "master_link_status:up"))
}

// option is what the server was started with.
func (s *Server) option(name string) string {
	for i, word := range s.config[:len(s.config)-1] {
		if word == name {
			return s.config[i+1]
		}
	}
	return ""
}

// Client is a new client of the cluster. It is the caller's to close.
func (c *Cluster) Client() *redis.ClusterClient {
	var addrs []string
	for _, master := range c.Masters {
		addrs = append(addrs, master.Addr())
	}
	return redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
}
