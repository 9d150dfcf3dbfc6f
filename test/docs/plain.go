package docs

import (
	"regexp"
	"slices"
	"strings"
)

// differing is what differs from run to run, and what stands for it.
var differing = []struct {
	what *regexp.Regexp
	is   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]+Z`), "TIME"},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?(ms|s|m|h)\b`), "AGE"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDRESS"},
	{regexp.MustCompile(`\b(process|pid) \d+`), "$1 N"},
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-RANDOM"}, // the letters of generated names
	{regexp.MustCompile(`\b\d+ +Running\b`), "PID Running"},
	{regexp.MustCompile(`━+`), "━"},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(`(?m) $`), ""},
}

// Plain is an output without what differs from run to run: ages and times, addresses, the random ends of names, widths of columns,
// the order of what happened at once.
func Plain(text string) string {
	for _, d := range differing {
		text = d.what.ReplaceAllString(text, d.is)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
