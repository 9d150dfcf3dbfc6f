package controlcmd

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// changing is an object that others change before each of the first requests.
type changing struct {
	t       *testing.T
	object  *unstructured.Unstructured
	changes []func(*unstructured.Unstructured)
	patches int
}

func (c *changing) read() (*unstructured.Unstructured, error) { return c.object.DeepCopy(), nil }

func (c *changing) send(patch []byte) error {
	c.patches++
	if len(c.changes) > 0 {
		c.changes[0](c.object)
		c.changes = c.changes[1:]
		version, _ := strconv.Atoi(c.object.GetResourceVersion())
		c.object.SetResourceVersion(strconv.Itoa(version + 1))
	}
	var sent unstructured.Unstructured
	require.NoError(c.t, json.Unmarshal(patch, &sent.Object))
	if sent.GetResourceVersion() != c.object.GetResourceVersion() || sent.GetUID() != c.object.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Resource: "jobflows"}, "long", errors.New("the object has been modified"))
	}
	suspend, _, _ := unstructured.NestedBool(sent.Object, "spec", "suspend")
	return unstructured.SetNestedField(c.object.Object, suspend, "spec", "suspend")
}

// An operator that writes the status at the same time is no reason to refuse what someone asks for.
func TestSendTriesAgainAfterAConflict(t *testing.T) {
	set := func(value any, fields ...string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) {
			require.NoError(t, unstructured.SetNestedField(o.Object, value, fields...))
		}
	}
	for name, tt := range map[string]struct {
		verb    string
		changes []func(*unstructured.Unstructured)
		isNews  bool
		err     string
		patches int
	}{
		"nothing changes":     {verb: "suspend", isNews: true, patches: 1},
		"the status":          {verb: "suspend", changes: []func(*unstructured.Unstructured){set(int64(1), "status", "n"), set(int64(2), "status", "n")}, isNews: true, patches: 3},
		"asked for meanwhile": {verb: "suspend", changes: []func(*unstructured.Unstructured){set(true, "spec", "suspend")}, patches: 1},
		"ended meanwhile":     {verb: "suspend", changes: []func(*unstructured.Unstructured){set("x", "status", "completionTime")}, err: "it has ended already", patches: 1},
		"another object":      {verb: "suspend", changes: []func(*unstructured.Unstructured){set("other", "metadata", "uid")}, err: "has been modified", patches: 1},
		"another step": {
			verb: "undo", err: "has been modified", patches: 1,
			changes: []func(*unstructured.Unstructured){set([]any{map[string]any{"type": "Undoable", "status": "True", "message": "t-2"}}, "status", "conditions")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &changing{t: t, changes: tt.changes, object: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "api.practice.com/v1alpha1", "kind": "JobFlow",
				"metadata": map[string]any{"name": "long", "uid": "u", "resourceVersion": "1"},
				"status": map[string]any{
					"state": "Running", "conditions": []any{map[string]any{"type": "Undoable", "status": "True", "message": "t-1"}},
				},
			}}}
			read, _ := c.read()
			isNews, err := actionOf(t, tt.verb).send(read, c.send, c.read)
			assert.Equal(t, tt.patches, c.patches)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.isNews, isNews)
		})
	}
}

// An object that changes all the time is a conflict in the end.
func TestSendEnds(t *testing.T) {
	c := &changing{t: t, object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "api.practice.com/v1alpha1", "kind": "JobFlow", "metadata": map[string]any{"uid": "u", "resourceVersion": "1"},
	}}}
	for range 100 {
		c.changes = append(c.changes, func(*unstructured.Unstructured) {})
	}
	read, _ := c.read()
	isNews, _, err := Send("suspend", read, c.send, c.read)
	assert.True(t, apierrors.IsConflict(err))
	assert.False(t, isNews)
	assert.Equal(t, attempts, c.patches)
}
