package preview

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
	"github.com/armature-dev/armature/test/docs"
)

var webApp = schema.GroupKind{Group: "example.com", Kind: "WebApp"}

func deployment(name string) store.Key {
	return store.Key{Group: "apps", Kind: "Deployment", Namespace: "default", Name: name}
}

func configMap(name string) store.Key {
	return store.Key{Kind: "ConfigMap", Namespace: "default", Name: name}
}

func owner(name string, res builder.Result, err error) Owner {
	return ownerOf(webApp, types.NamespacedName{Namespace: "default", Name: name}, res, err)
}

// A report of read-only credentials says what the API server hasn't checked.
func TestEstimatedChangesAreNamed(t *testing.T) {
	r := &Report{Owners: 1, Estimated: []string{"delete ConfigMap", "patch Deployment.apps"}}
	var text, markdown bytes.Buffer
	require.NoError(t, r.WriteText(&text, true))
	require.NoError(t, r.WriteMarkdown(&markdown))
	for _, written := range []string{text.String(), markdown.String()} {
		assert.Contains(t, written, "\nEstimated, because these credentials don't permit it: delete ConfigMap, patch Deployment.apps. ")
	}
}

// The manual shows what the text looks like.
func TestTextInTheManual(t *testing.T) {
	r := &Report{Owners: 840}
	r.add(make([]Owner, 837))
	r.add([]Owner{
		owner("users", builder.Result{Changes: []builder.Change{{
			Key: store.Key{Group: "example.com", Kind: "WebApp", Namespace: "default", Name: "users"}, Reason: events.ReasonUpdated,
			Fields: []builder.FieldDiff{{Path: "status.conditions[type=Ready].message", Old: "3 of 3", New: "3 of 3 replicas are ready"}},
		}}}, nil),
		owner("search", builder.Result{Changes: []builder.Change{{
			Key: configMap("search"), Reason: events.ReasonUpdated, Drift: true,
			Fields: []builder.FieldDiff{{Path: "data.mode", Old: "debug", New: "fast"}},
		}}}, nil),
		owner("orders", builder.Result{Changes: []builder.Change{{
			Key: deployment("orders"), Reason: events.ReasonUpdated,
			Fields: []builder.FieldDiff{{Path: "spec.template.spec.containers[name=web].image", Old: "web:1", New: "web:2"}},
		}}}, nil),
	})
	r.sort()
	var text bytes.Buffer
	require.NoError(t, r.WriteText(&text, true))
	page, err := os.ReadFile("../../docs/upgrade.md")
	require.NoError(t, err)
	seen := 0
	docs.Blocks(string(page), "message", func(name, old string) string {
		if name == "preview" {
			seen++
			assert.Equal(t, "$ armature preview --fields\n"+text.String(), old)
		}
		return old
	})
	assert.Equal(t, 1, seen)
}

func TestWhatIsDisruptive(t *testing.T) {
	field := func(path string, old, after any) []builder.FieldDiff {
		return []builder.FieldDiff{{Path: path, Old: old, New: after}}
	}
	job := store.Key{Group: "batch", Kind: "Job", Namespace: "default", Name: "a"}
	for name, tt := range map[string]struct {
		change builder.Change
		want   string
	}{
		"a new object":          {builder.Change{Key: deployment("a"), Reason: events.ReasonCreated, Fields: field("spec.template.x", nil, 1)}, ""},
		"a deletion":            {builder.Change{Key: configMap("a"), Reason: events.ReasonDeleted}, "deleted"},
		"a recreation":          {builder.Change{Key: job, Reason: events.ReasonRecreating}, "deleted and recreated"},
		"a pod template":        {builder.Change{Key: deployment("a"), Reason: events.ReasonUpdated, Fields: field("spec.template.metadata.labels.a", 1, 2)}, "restarts pods"},
		"an adopted template":   {builder.Change{Key: deployment("a"), Reason: events.ReasonAdopted, Fields: field("spec.template.spec", 1, 2)}, "restarts pods"},
		"a template of no pods": {builder.Change{Key: job, Reason: events.ReasonUpdated, Fields: field("spec.template.metadata.labels.a", 1, 2)}, ""},
		"fewer replicas":        {builder.Change{Key: deployment("a"), Reason: events.ReasonUpdated, Fields: field("spec.replicas", int64(3), int64(2))}, "scaled down from 3 to 2"},
		"more replicas":         {builder.Change{Key: deployment("a"), Reason: events.ReasonUpdated, Fields: field("spec.replicas", int64(2), int64(3))}, ""},
		"no replicas any more":  {builder.Change{Key: deployment("a"), Reason: events.ReasonUpdated, Fields: field("spec.replicas", int64(2), nil)}, "scaled down from 2 to (none)"},
		"another field":         {builder.Change{Key: deployment("a"), Reason: events.ReasonUpdated, Fields: field("spec.paused", nil, true)}, ""},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, disruption(tt.change)) })
	}
}

func TestReport(t *testing.T) {
	r := &Report{Owners: 3}
	r.add([]Owner{
		owner("b", builder.Result{Pending: []builder.ChildStatus{{Key: configMap("w"), Reason: events.ReasonWaiting}}}, nil), // it waits anyway
		owner("a", builder.Result{
			Changes: []builder.Change{{Key: configMap("gone"), Reason: events.ReasonDeleted}}, Pending: []builder.ChildStatus{
				{Key: deployment("p"), Reason: events.ReasonRollingOut},
				{Key: store.Key{Group: "example.com", Kind: "WebApp", Name: "a"}, Reason: events.ReasonWaitingForTurn, Message: "waits for its turn"},
			},
		}, errors.Join(errors.New("one|two"), fmt.Errorf("in it: %w", errors.New("three")))),
	})
	assert.Equal(t, "3 owners: 1 unchanged, 1 change; 0 would restart pods, 1 deletes, 1 refused", r.Summary())
	var text, markdown bytes.Buffer
	require.NoError(t, r.WriteText(&text, false))
	assert.Equal(t, r.Summary()+`

WebApp default/a (waits for its turn)
  delete ConfigMap default/gone
  later Deployment.apps default/p
  problem: one|two
  problem: in it: three
`, text.String())
	require.NoError(t, r.WriteMarkdown(&markdown))
	assert.Equal(t, "**"+r.Summary()+`**

| owner | change | disrupts | fields |
|---|---|---|---|
| WebApp default/a (waits for its turn) | delete ConfigMap default/gone | deleted |  |
| WebApp default/a (waits for its turn) | later Deployment.apps default/p |  |  |
| WebApp default/a | problem |  | one\|two |
| WebApp default/a | problem |  | in it: three |
`, markdown.String())
}

// A long value is cut between characters.
func TestLongValues(t *testing.T) {
	assert.Equal(t, `"`+strings.Repeat("ä", longest-1)+"...", value(strings.Repeat("ä", 1000)))
	assert.Equal(t, "(none)", value(nil))
	assert.JSONEq(t, `{"a":"<b>"}`, value(map[string]any{"a": "<b>"}))
}

// The summary counts owners by what is disrupted, once each, and objects that are deleted.
func TestSummaryOfDisruptions(t *testing.T) {
	change := func(name, reason, path string, old, after any) builder.Change {
		return builder.Change{Key: deployment(name), Reason: reason, Fields: []builder.FieldDiff{{Path: path, Old: old, New: after}}}
	}
	image, replicas := "spec.template.spec.containers[name=web].image", "spec.replicas"
	r := &Report{Owners: 3}
	r.add([]Owner{
		owner("b", builder.Result{Changes: []builder.Change{
			change("b", events.ReasonUpdated, image, "b:1", "b:2"), change("c", events.ReasonUpdated, image, "b:1", "b:2"),
		}}, nil),
		owner("a", builder.Result{Changes: []builder.Change{
			{
				Key: deployment("a"), Reason: events.ReasonUpdated,
				Fields: []builder.FieldDiff{
					{Path: replicas, Old: int64(3), New: int64(1)}, {Path: "spec.template.metadata.labels.v", New: "2"},
					{Path: image, Old: "a:1", New: "a:2"},
				},
			},
			change("x", events.ReasonRecreating, image, "x:1", "x:2"), change("y", events.ReasonDeleted, "", nil, nil),
		}}, nil),
		owner("c", builder.Result{Changes: []builder.Change{change("d", events.ReasonUpdated, replicas, int64(2), int64(1))}}, nil),
	})
	r.sort()
	assert.Equal(t, `3 owners: 0 unchanged, 3 change; 2 would restart pods (WebApp default/a: `+image+` "a:1" -> "a:2"), 2 would scale down, `+
		`2 deletes, 0 refused`, r.Summary())
	assert.Equal(t, 3, r.Disruptive)
}

// An error with a kind and a cause is one problem: only the whole text names the object.
func TestProblemOfSeveralCausesIsOne(t *testing.T) {
	misused := fmt.Errorf("apply %s: %w", deployment("web"), fmt.Errorf("%w: %w", errors.New("misused"), errors.New("no name")))
	o := owner("web", builder.Result{}, errors.Join(misused, fmt.Errorf("second: %w", errors.New("cause"))))
	assert.Equal(t, []string{"apply Deployment.apps default/web: misused: no name", "second: cause"}, o.Problems)
}
