package fieldmanager

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The API server takes the user agent up to its first slash, which client-go begins with the program's name.
func TestProgram(t *testing.T) {
	for program, want := range map[string]string{
		"/manager": "manager", "manager": "manager", "/usr/local/bin/my-operator": "my-operator", strings.Repeat("x", 200): strings.Repeat("x", 128),
	} {
		assert.Equal(t, want, programOf(program))
	}
}
