package revision

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/internal/wellknown"
)

func compressed(t testing.TB, children string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err := w.Write([]byte(children))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	data, err := json.Marshal(map[string]any{"phases": []string{"p"}, "compressed": buf.Bytes()})
	require.NoError(t, err)
	return string(data)
}

func madeUp(data string) *Revision {
	return &Revision{Object: &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0123"}, Data: kruntime.RawExtension{Raw: []byte(data)},
	}}
}

// A revision that someone has put in the place of ours costs bounded memory: some 100 KB of data can be gigabytes of children.
func TestARevisionCostsBoundedMemory(t *testing.T) {
	list := func(size int, one string) string { return "[" + strings.Repeat(one+",", size/(len(one)+1)) + one + "]" }
	for name, data := range map[string]string{
		"children":            compressed(t, list(16<<20, "{}")),
		"children of nothing": compressed(t, list(16<<20, "null")),
		"a large payload":     compressed(t, `[{"kind":"A","phase":"p","payload":{"a":`+list(16<<20, "{}")+`}}]`),
		"more than fits":      compressed(t, list(maxUnpacked+2, strings.Repeat(" ", 1<<20)+"{}")),
		"plain":               `{"phases":["p"],"children":` + list(1<<20, "{}") + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			revision := madeUp(data)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, reason := revision.Restorable("owner")
			runtime.ReadMemStats(&after)
			assert.NotEmpty(t, reason)
			assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(160))
		})
	}
}

// What a ControllerRevision of anyone holds is read without harm, and never restored unless it fits its name.
func FuzzRestorable(f *testing.F) {
	small := NewSnapshot([]string{"p"}, []Child{{Kind: "A", Version: "v1", Name: "a", Phase: "p", Payload: json.RawMessage(`{"a":[1]}`), Ignored: []string{"a[0]"}}}, []string{"run x"})
	data, err := small.Render()
	require.NoError(f, err)
	f.Add(string(data), `{"controller":"c","state":"Completed"}`)
	f.Add(compressed(f, `[{"kind":"A","phase":"p","payload":{"a":{}}}]`), `{"runs":[{"id":"x"}]}`)
	f.Add(`{"phases":null,"children":null}`, `{`)
	f.Add(`{"runOnce":"a"}`, `{"child":"a","runs":null}`)
	f.Fuzz(func(t *testing.T, data, record string) {
		revision := madeUp(data)
		revision.Object.Annotations = map[string]string{wellknown.AnnotationRollout: record, wellknown.AnnotationRunOnce: record}
		s, reason := revision.Restorable("owner")
		if reason == "" {
			lines := append([]string{}, s.Runs...)
			for i := range s.Children {
				lines = append(lines, s.Children[i].Line())
			}
			assert.Equal(t, "0123", Hash("owner", lines))
		}
		ReadRecord(revision.Object, "c")
		if r := ReadRuns(revision.Object); r != nil {
			assert.NotEmpty(t, r.Child)
		}
		StatusOf([]*appsv1.ControllerRevision{revision.Object})
	})
}
