package redisstore

import "github.com/redis/go-redis/v9"

// Client is the store's client, for a second instance.
func Client(s *Store) redis.UniversalClient { return s.client }

// PrefixOf is the store's prefix, for a second instance.
func PrefixOf(s *Store) string { return s.prefix }

// Numbers are numbers as the script reads and replies them.
func Numbers(numbers ...int64) []byte { return appendNumbers(nil, numbers...) }
