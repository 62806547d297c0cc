package ratelimit

import "github.com/gin-gonic/gin"

// route is the registered method and pattern, as in "GET /users/:id", "" where
// nothing matches. Gin registers HEAD by itself, so that a match has the method of
// its registration.
func route(c *gin.Context) string {
	pattern := c.FullPath()
	if pattern == "" {
		return ""
	}
	return c.Request.Method + " " + pattern
}
