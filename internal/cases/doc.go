// Package cases tries on this library what people reported of other rate limiters:
// each test is named after a row of docs/cases.md and names the public report.
package cases
