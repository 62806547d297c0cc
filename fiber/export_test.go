package ratelimit

import "sync"

// ForgetPreforkWarning makes the warning due again.
func ForgetPreforkWarning() { preforkWarning = sync.Once{} }
