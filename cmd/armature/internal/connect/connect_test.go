package connect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSome(t *testing.T) {
	assert.Equal(t, "a, b", Some([]string{"a", "b"}))
	assert.Equal(t, strings.Repeat("a, ", 19)+"a and 5 more", Some(strings.Split(strings.Repeat("a,", 24)+"a", ",")))
}
