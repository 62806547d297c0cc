package ratelimit_test

import (
	"fmt"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	ratelimit "github.com/ratelimit-go/ratelimit/gin"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// A service with a limit for all, one for its API and one for its login.
func Example_service() {
	router, login := newRouter(), hello
	router.Use(ratelimit.New(core.PerMinute(100))) // for each client IP, counted in memory

	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
	limits := ratelimit.With(ratelimit.Options{
		Store:     redisstore.New(rdb, redisstore.Prefix("shop")), // any redis.UniversalClient
		OnRefused: func(c *gin.Context, r core.Result) { c.JSON(429, gin.H{"retry": r.RetryAfterSeconds()}) },
	})

	// Admitted only if both admit, charged to both or to none.
	api := router.Group("/api", limits.New(
		core.PerMinute(300).By(keyfuncs.IP()).Named("ip"),
		core.PerSecond(10).TokenBucket(100).By(keyfuncs.Header("X-API-Key")).Named("key"),
	))
	api.GET("/orders", hello)

	// A key from the framework's own context.
	router.POST("/login", limits.New(core.PerMinute(5).SlidingWindowLog().Named("login").By(
		ratelimit.Key(func(c *gin.Context) (string, error) { return c.PostForm("user"), nil }))), login)

	fmt.Println(len(router.Routes()), "routes")
	// Output: 2 routes
}
