// Package verbose has a test that fails with a long message.
package verbose

import (
	"strings"
	"testing"
)

func TestVerbose(t *testing.T) {
	t.Error("the message: ", strings.Repeat("long ", 5_000_000))
}
