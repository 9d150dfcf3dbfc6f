package revision

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSnapshots(t *testing.T) {
	s := Snapshot{Phases: []string{"a"}, Children: []Child{{Kind: "ConfigMap", Version: "v1", Name: "c", Payload: []byte(`{"a":"b"}`)}}}
	again := func(s Snapshot) Snapshot {
		data, err := s.Render()
		require.NoError(t, err)
		assert.LessOrEqual(t, len(data), maxSize)
		got, err := ReadSnapshot(data)
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, s, again(s))
	s.Children[0].Payload = []byte(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)
	got := again(s)
	assert.NotEmpty(t, got.Compressed)
	assert.Equal(t, s.Children, got.Children)
	for _, bad := range []string{"", "{", `{"compressed":"AAAA"}`, `{"compressed":"H4sIAAAAAAAA"}`} {
		_, err := ReadSnapshot([]byte(bad))
		assert.Error(t, err, bad)
	}
	many := Snapshot{}
	for i := range 80_000 {
		many.Children = append(many.Children, Child{Name: fmt.Sprint(Hash("", nil), i*7919), Digest: Hash("", []string{fmt.Sprint(i)})})
	}
	_, err := many.Render()
	assert.ErrorContains(t, err, "80000 children")
}

func TestPayloadsLeaveOutTheUID(t *testing.T) {
	fields := map[string]any{"metadata": map[string]any{"name": "a", "uid": "b"}}
	got, err := Payload(fields)
	require.NoError(t, err)
	assert.JSONEq(t, `{"metadata":{"name":"a"}}`, string(got))
	assert.Equal(t, map[string]any{"metadata": map[string]any{"name": "a", "uid": "b"}}, fields, "what is given stays as it is")
}

func TestHash(t *testing.T) {
	a, b := Child{Name: "a", Digest: "1"}, Child{Name: "b", Digest: "2"}
	assert.Equal(t, Hash("", []string{a.Line(), b.Line()}), Hash("", []string{b.Line(), a.Line()}), "in any order")
	assert.NotEqual(t, Hash("", []string{a.Line()}), Hash("", []string{b.Line()}))
	assert.NotEqual(t, Hash("x", nil), Hash("y", nil))
}
