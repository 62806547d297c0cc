package redisstore

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
)

// What the script is called with must live together: on a cluster in one slot, on a
// ring in one shard, elsewhere it always does. This file alone knows where a key
// lives.

// place is where a key lives. Asks of one place are decided together.
type place struct {
	lane *lane
	slot uint16 // on a cluster, else 0
}

// placeOf is the place of an ask, whose key is the name of its state.
func (s *Store) placeOf(ctx context.Context, ask *core.Ask) (place, error) {
	switch client := s.client.(type) {
	case *redis.ClusterClient:
		at := place{lane: s.home, slot: slotOf(tagOf(ask.Key))}
		if !s.reached.Load() { // asking where it lives would wait for a cluster that was not seen yet
			return at, nil
		}
		master, err := client.MasterForKey(ctx, ask.Key)
		if err != nil {
			return at, nil // the call will tell
		}
		at.lane = s.laneTo(master)
		return at, nil
	case *redis.Ring:
		shard, err := client.GetShardClientForKey(ask.Key)
		if err != nil {
			return place{}, explain(ctx, err)
		}
		return place{lane: s.laneTo(shard)}, nil
	}
	return place{lane: s.home}, nil
}

// laneTo is the lane of one server of several.
func (s *Store) laneTo(client *redis.Client) *lane {
	if known, ok := s.lanes.Load(client); ok {
		return known.(*lane)
	}
	known, _ := s.lanes.LoadOrStore(client, newLane(s, client))
	return known.(*lane)
}

// slotOf is a cluster's slot of a hash tag: CRC-16/XMODEM modulo 16,384.
func slotOf(tag string) uint16 {
	crc := uint16(0)
	for i := range len(tag) {
		crc ^= uint16(tag[i]) << 8
		for range 8 {
			carry := crc >> 15
			crc = crc<<1 ^ carry*0x1021
		}
	}
	return crc % 16_384
}
