package former

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/revision"
)

func child(t *testing.T, name, value string) Child {
	t.Helper()
	fields := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"k": value},
	}
	digest, err := payload.Digest(fields)
	require.NoError(t, err)
	raw, err := json.Marshal(fields)
	require.NoError(t, err)
	return Child{Child: revision.Child{Version: "v1", Kind: "ConfigMap", Name: name, Digest: digest, Payload: raw}}
}

func stored(t *testing.T, s State) *appsv1.ControllerRevision {
	t.Helper()
	name, data, err := s.Render("id", "web")
	require.NoError(t, err)
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: runtime.RawExtension{Raw: data}}
}

// A state is read as it was kept. Any other content doesn't fit its name: of children, of the header, of another owner.
func TestState(t *testing.T) {
	recreated := child(t, "b", "1")
	recreated.Recreate = metav1.DeletePropagationForeground
	s := State{Cause: Cause{Generation: 3, Build: "x"}, Previous: "web-1", Children: []Child{child(t, "a", "1"), recreated}}
	object := stored(t, s)
	read, err := Read(object, "id")
	require.NoError(t, err)
	assert.Equal(t, s.Cause, read.Cause)
	assert.Equal(t, "web-1", read.Previous)
	require.Len(t, read.Children, 2)
	assert.Equal(t, metav1.DeletePropagationForeground, read.Children[1].Recreate)

	_, err = Read(object, "another owner")
	require.Error(t, err)
	for from, to := range map[string]string{`"k":"1"`: `"k":"2"`, `\"generation\":3`: `\"generation\":4`, "Foreground": "Background"} {
		changed := object.DeepCopy()
		changed.Data.Raw = []byte(strings.Replace(string(object.Data.Raw), from, to, 1))
		require.NotEqual(t, string(object.Data.Raw), string(changed.Data.Raw))
		_, err = Read(changed, "id")
		assert.EqualError(t, err, "the data of ControllerRevision "+object.Name+" don't fit the hash in its name")
	}
}

// The first former state of a child counts: it is the one before all changes of a cause.
func TestWith(t *testing.T) {
	s := State{Children: []Child{child(t, "a", "first")}}
	all := s.With([]Child{child(t, "a", "second"), child(t, "b", "first")})
	require.Len(t, all.Children, 2)
	assert.Contains(t, string(all.Children[0].Payload), "first")
	assert.Len(t, s.Children, 1)
}

// A state that is too large is named, without content.
func TestAStateIsBounded(t *testing.T) {
	var s State
	for range 40 {
		var text strings.Builder
		for text.Len() < 64<<10 {
			text.WriteString(revision.Hash("x", []string{text.String()[max(0, text.Len()-32):], string(rune('a' + len(s.Children)))}))
		}
		s.Children = append(s.Children, child(t, strings.Repeat("a", len(s.Children)+1), text.String()))
	}
	object := stored(t, s)
	assert.Less(t, len(object.Data.Raw), 1<<20)
	read, err := Read(object, "id")
	require.NoError(t, err)
	assert.True(t, read.Omitted)
	assert.Len(t, read.Children, 40)
}
