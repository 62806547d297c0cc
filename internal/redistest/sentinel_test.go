package redistest

import (
	"context"
	"testing"
)

func TestSentinelsKnowTheMaster(t *testing.T) {
	ctx := context.Background()
	s := StartSentinels(t)
	client, master := s.Client(), s.Master.Client()
	defer client.Close()
	defer master.Close()
	if err := client.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if text, err := master.Get(ctx, "k").Result(); text != "v" {
		t.Errorf("the master has %q, %v", text, err)
	}
}
