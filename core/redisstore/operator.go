package redisstore

import (
	"context"
	"errors"
	"strings"
)

// ErrorKind names an error of the store in a word, for metrics: "away", "timeout" or
// "busy"; "" for what the server or the network says.
func (s *Store) ErrorKind(err error) string {
	switch {
	case errors.Is(err, ErrAway):
		return "away"
	case errors.Is(err, ErrTimeout):
		return "timeout"
	case errors.Is(err, ErrBusy):
		return "busy"
	}
	return ""
}

// Evicts asks a server whether it forgets keys when its memory is full. Of several
// servers, one is asked. Where INFO is not allowed it is an error.
func (s *Store) Evicts(ctx context.Context) (bool, error) {
	text, err := s.client.Info(ctx, "memory").Result()
	if err != nil {
		return false, err
	}
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		info[name] = value
	}
	bounded := info["maxmemory"] != "0" && info["maxmemory"] != ""
	return bounded && info["maxmemory_policy"] != "noeviction", nil
}
