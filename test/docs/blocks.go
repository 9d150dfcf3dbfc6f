package docs

import (
	"regexp"
	"strings"
)

// block is a marker and the fenced block after it:
//
//	<!-- file: examples/tutorial/main.go -->
//	```go
//	...
//	```
var block = regexp.MustCompile("(?ms)^<!-- (\\w+): ([^\n]*?) -->\n```(\\w*)\n(.*?)^```$")

// Blocks returns the page with what the blocks of a kind should have in them, as a function tells by the marker's argument and
// what they have.
func Blocks(page, kind string, content func(argument, old string) string) string {
	return block.ReplaceAllStringFunc(page, func(found string) string {
		parts := block.FindStringSubmatch(found)
		if parts[1] != kind {
			return found
		}
		return "<!-- " + kind + ": " + parts[2] + " -->\n```" + parts[3] + "\n" + strings.TrimRight(content(parts[2], parts[4]), "\n") + "\n```"
	})
}
