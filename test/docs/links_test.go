package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// code is what a page quotes; it may look like a link.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

// TestLinks: each file that a page links to is there.
func TestLinks(t *testing.T) {
	checked := 0
	check := func(page string) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			checked++
			_, err := os.Stat(filepath.Join(filepath.Dir(page), found[1]))
			assert.NoError(t, err, "%s links to %s", page, found[1])
		}
	}
	for _, page := range pages(t) {
		check(root + page)
	}
	assert.Greater(t, checked, 30)
}
