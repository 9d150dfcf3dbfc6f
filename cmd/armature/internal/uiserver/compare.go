package uiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// maxDifferences is how many fields of two specs are listed at most.
const maxDifferences = 500

// comparison is two runs of a flow side by side.
type comparison struct {
	A     row            `json:"a"`
	B     row            `json:"b"`
	Nodes []nodePair     `json:"nodes"`
	Spec  []specMismatch `json:"spec"`
}

// nodePair is a node in both runs. A side that hasn't got it is absent.
type nodePair struct {
	Name     string   `json:"name"`
	A        *node    `json:"a,omitempty"`
	B        *node    `json:"b,omitempty"`
	ASeconds *float64 `json:"aSeconds,omitempty"`
	BSeconds *float64 `json:"bSeconds,omitempty"`
	Delta    *float64 `json:"delta,omitempty"`
}

// specMismatch is a field that differs, as JSON; empty on a side that hasn't got it.
type specMismatch struct {
	Path string `json:"path"`
	A    string `json:"a,omitempty"`
	B    string `json:"b,omitempty"`
}

// compare compares two flows of a namespace.
func (s *server) compare(w http.ResponseWriter, r *http.Request, v *Viewer) {
	query := r.URL.Query()
	namespace := query.Get("namespace")
	a, err := v.readRun(r.Context(), namespace, query.Get("a"))
	var b run
	if err == nil {
		b, err = v.readRun(r.Context(), namespace, query.Get("b"))
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, compareRuns(a, b))
}

// run is a flow as it has run.
type run struct {
	document flowDocument
	spec     any
	nodes    []node
}

// readRun reads a flow and its Jobs.
func (v *Viewer) readRun(ctx context.Context, namespace, name string) (run, error) {
	if namespace == "" || name == "" {
		return run{}, badRequest("namespace, a and b must be set")
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("JobFlow"))
	if err := v.cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u); err != nil {
		return run{}, err
	}
	view := newFlowView()
	d := flowDocumentOf(u)
	if d.flow == nil {
		return run{}, fmt.Errorf("JobFlow %s can't be read", name)
	}
	view.setFlow(d)
	jobs := newFeed(v.cluster.Client, v.account, jobsSource(namespace, name), jobTimesOf)
	if _, err := jobs.list(ctx); err != nil {
		return run{}, err
	}
	found := changes[jobTimes]{}
	for _, j := range jobs.items {
		found.set = append(found.set, j.value)
	}
	view.setJobs(found)
	r := run{document: d, spec: u.Object["spec"], nodes: view.sent[:len(view.states)]}
	for i := range r.nodes {
		r.nodes[i].Name = view.shape.Names[i]
	}
	return r, nil
}

// compareRuns puts two runs side by side: the nodes whose times differ most come first.
func compareRuns(a, b run) comparison {
	c := comparison{A: a.document.row, B: b.document.row, Nodes: []nodePair{}, Spec: []specMismatch{}}
	at := map[string]int{}
	for i := range a.nodes {
		n := &a.nodes[i]
		at[n.Name] = len(c.Nodes)
		c.Nodes = append(c.Nodes, nodePair{Name: n.Name, A: n, ASeconds: seconds(n)})
	}
	for i := range b.nodes {
		n := &b.nodes[i]
		k, ok := at[n.Name]
		if !ok {
			k = len(c.Nodes)
			c.Nodes = append(c.Nodes, nodePair{Name: n.Name})
		}
		p := &c.Nodes[k]
		p.B, p.BSeconds = n, seconds(n)
		if p.ASeconds != nil && p.BSeconds != nil {
			delta := *p.BSeconds - *p.ASeconds
			p.Delta = &delta
		}
	}
	weight := func(p nodePair) float64 {
		if p.Delta == nil {
			return -1
		}
		return math.Abs(*p.Delta)
	}
	slices.SortStableFunc(c.Nodes, func(a, b nodePair) int { return cmp.Compare(weight(b), weight(a)) })
	differ(&c.Spec, "spec", byName(a.spec), byName(b.spec))
	return c
}

// seconds is how long a node has run; nil if it hasn't run to an end.
func seconds(n *node) *float64 {
	from, err1 := time.Parse(time.RFC3339, n.Started)
	to, err2 := time.Parse(time.RFC3339, n.Ended)
	if err1 != nil || err2 != nil {
		return nil
	}
	s := to.Sub(from).Seconds()
	return &s
}

// byName makes maps of lists whose items have names, so that an item is compared with the one of its name.
func byName(value any) any {
	switch v := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for key, item := range v {
			copied[key] = byName(item)
		}
		return copied
	case []any:
		named := make(map[string]any, len(v))
		for _, item := range v {
			fields, _ := item.(map[string]any)
			name, ok := fields["name"].(string)
			if _, twice := named[name]; !ok || twice {
				return v
			}
			named[name] = byName(item)
		}
		return named
	default:
		return v
	}
}

// differ lists the fields that differ.
func differ(found *[]specMismatch, path string, a, b any) {
	if len(*found) >= maxDifferences || reflect.DeepEqual(a, b) || isEmpty(a) && isEmpty(b) {
		return
	}
	fieldsA, okA := a.(map[string]any)
	fieldsB, okB := b.(map[string]any)
	if !okA || !okB {
		*found = append(*found, specMismatch{Path: path, A: jsonOf(a), B: jsonOf(b)})
		return
	}
	keys := maps.Clone(fieldsA)
	maps.Copy(keys, fieldsB)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		differ(found, path+"."+key, fieldsA[key], fieldsB[key])
	}
}

// isEmpty reports whether a value says no more than its absence.
func isEmpty(value any) bool {
	fields, isMap := value.(map[string]any)
	return value == nil || isMap && len(fields) == 0
}

func jsonOf(value any) string {
	if value == nil {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return shorten(string(text), maxMessage)
}
