package uiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/operators/daemonjob"
)

// maxPods is how many pods of an object without a known label are shown.
const maxPods = 1000

// detail is the drawer of an object as one stream shows it.
type detail struct {
	out  *stream
	v    *Viewer
	kind kind
	node string

	object    []byte // as the feed keeps it; nil before it has been read
	isOver    bool   // nothing is to happen to the object any more
	eventLog  *eventLog
	nodes     *nodeMap
	explainer *explainer
	reminder  *reminder
	shown     map[types.UID]podView // of an object whose pods are found by its family
}

// maxDrawn is how many objects are decoded for drawers at a time, and of each user one.
const maxDrawn = 2

var drawing = newSlots(maxDrawn)

// whole keeps all of an object, as JSON: decoded, it can take 30 times as much. Explanations read from the managed fields when it was
// changed, and by whom.
func whole(u *unstructured.Unstructured) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // an escaped character takes six bytes
	if encoder.Encode(u.Object) != nil {
		return nil // impossible: it was JSON
	}
	return bytes.Clone(text.Bytes())
}

// objectOf decodes what whole has kept.
func objectOf(text []byte) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	return u, utiljson.Unmarshal(text, &u.Object)
}

// without returns a shallow copy of a map without a key.
func without(fields map[string]any, key string) map[string]any {
	rest := maps.Clone(fields)
	delete(rest, key)
	return rest
}

// shownOf returns the content of an object as it is shown: without the managed fields. It changes nothing of the object, which streams
// share.
func shownOf(u *unstructured.Unstructured) map[string]any {
	metadata, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return u.Object
	}
	shown := maps.Clone(u.Object)
	shown["metadata"] = without(metadata, "managedFields")
	return shown
}

// streamDetail streams an object, or a node of a JobFlow, with all that belongs to it.
func (s *server) streamDetail(w http.ResponseWriter, r *http.Request, v *Viewer) {
	namespace, name, err := nameOf(r)
	var k kind
	if err == nil {
		k, err = s.find(v.cluster.Client.RESTMapper(), r.URL.Query().Get("kind"))
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	out := newStream(w, r)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	d := &detail{
		out: out, v: v, kind: k, node: r.URL.Query().Get("node"), eventLog: newEventLog(), nodes: newNodeMap(), shown: map[types.UID]podView{},
	}
	d.explainer, d.reminder = &explainer{slots: explaining, user: v.account(), wake: out.wake}, newReminder(s.pace, out.wake)
	defer d.reminder.stop()

	objects := read(v.hub, source{gvk: k.GroupVersionKind, namespace: namespace, fields: "metadata.name=" + name}, "whole", whole, out.wake)
	defer objects.close()
	events := read(v.hub, source{gvk: corev1.SchemeGroupVersion.WithKind("Event"), namespace: namespace}, "events", eventViewOf, out.wake)
	defer events.close()
	var pods *reader[podView]
	if from, known := podsOf(k, namespace, name, d.node); known {
		pods = read(v.hub, from, "pods", podViewOf, out.wake)
		defer pods.close()
	}
	var nodes *reader[corev1.Node]
	var runs *reader[daemonRun]
	if k.Kind == "DaemonJob" && k.Group == v1alpha1.GroupVersion.Group {
		nodes = read(v.hub, source{gvk: corev1.SchemeGroupVersion.WithKind("Node")}, "placement", clusterNodeOf, out.wake)
		defer nodes.close()
		jobs := source{
			gvk: batchv1.SchemeGroupVersion.WithKind("Job"), namespace: namespace,
			labels: daemonjob.LabelDaemonJob + "=" + labelValue(name),
		}
		runs = read(v.hub, jobs, "runs", daemonRunOf, out.wake)
		defer runs.close()
	}
	exists := false
	out.run(v, func() bool {
		c, synced, isNews := objects.take(), true, false
		out.source(c.state)
		if len(c.set) > 0 {
			d.setObject(ctx, c.set[0])
			isNews = true
		}
		if pods != nil {
			p := pods.take()
			out.source(p.state)
			sendAll(out, "pods", p.set)
			sendGone(out, "podsGone", p.gone)
			for i := range p.set {
				d.join(p.set[i].UID)
				d.join(p.set[i].owner)
			}
			isNews, synced = isNews || len(p.set)+len(p.gone) > 0, p.synced
		}
		e := events.take()
		out.source(e.state)
		about := d.eventLog.take(e)
		sendAll(out, "events", about)
		isNews = isNews || len(about) > 0
		if runs != nil {
			n, r := nodes.take(), runs.take()
			out.source(n.state)
			out.source(r.state)
			out.rest = 0
			if len(c.set)+len(n.set)+len(n.gone)+len(r.set)+len(r.gone) > 0 {
				d.sendMap(ctx, n, r)
			}
			synced = synced && n.synced && r.synced
		}
		if isNews {
			d.reminder.changed()
		}
		if d.object != nil && (isNews || d.reminder.isDue() && !d.isOver) {
			root := d.object
			d.explainer.ask(ctx, func(ctx context.Context) explained { return v.explain(ctx, root, d.node) })
		}
		d.sendExplained(pods == nil)
		if exists = len(c.set) > 0 || exists && len(c.gone) == 0; c.complete && !exists {
			out.end(notFound(k.Kind, namespace, name))
		}
		return synced && c.synced && e.synced
	})
}

// join adds an object to the shown ones, and sends its earlier events.
func (d *detail) join(uid types.UID) { sendAll(d.out, "events", d.eventLog.join(uid)) }

// objectView is the object itself.
type objectView struct {
	Row    row            `json:"row"`
	Object map[string]any `json:"object"`
	YAML   string         `json:"yaml"`

	spec *v1alpha1.Flow // of the node that is asked for
}

// maxInline is how many nodes a flow has at most that is sent as a whole, for each change of it. Of a larger one the drawer of the flow
// has the status, and the drawer of a node has that node.
const maxInline = 500

// drawn is what the stream sends of a version of an object.
type drawn struct {
	uid     types.UID
	isOver  bool
	io      *inputsOutputs // of a flow
	missing error          // of the node that is asked for
	object  []byte         // an objectView as JSON
}

// setObject sends a new version of the object.
func (d *detail) setObject(ctx context.Context, text []byte) {
	leave, err := drawing.take(ctx, d.v.account())
	if err != nil {
		return // the browser has left
	}
	next, err := d.draw(text)
	leave() // the browser may be slow
	if err != nil {
		d.out.end(err)
		return
	}
	d.object, d.isOver = text, next.isOver
	d.join(next.uid)
	if next.io != nil {
		d.out.send("io", next.io)
	}
	if next.missing != nil {
		d.out.end(next.missing)
	}
	d.out.writeEvent("object", next.object)
}

// draw decodes an object, and encodes what is shown of it.
func (d *detail) draw(text []byte) (next drawn, err error) {
	u, err := objectOf(text)
	if err != nil {
		return next, err
	}
	o := diagnose.NewObject(u, nil)
	next.uid, next.isOver = u.GetUID(), o.HasEnded() && !diagnose.IsRetried(o)
	shown := objectView{Row: rowOf(u), Object: shownOf(u)}
	shown.Row.Labels = u.GetLabels()
	if d.kind.Kind == "JobFlow" && d.kind.Group == v1alpha1.GroupVersion.Group {
		d.addFlow(u, &shown, &next)
	}
	inYAML := any(shown.Object)
	if shown.spec != nil {
		inYAML = shown.spec
	}
	if text, err = yaml.Marshal(inYAML); err != nil {
		text = []byte(err.Error())
	}
	shown.YAML = string(text)
	next.object, err = json.Marshal(shown)
	return next, err
}

// addFlow adds to a flow its inputs and outputs, or the one node that is asked for.
func (d *detail) addFlow(u *unstructured.Unstructured, shown *objectView, next *drawn) {
	flow := &v1alpha1.JobFlow{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, flow) != nil {
		return
	}
	io := inputsOutputsOf(flow, d.node)
	next.io = &io
	if len(flow.Spec.Flows) > maxInline {
		shown.Object = without(shown.Object, "spec")
	}
	if d.node == "" {
		return
	}
	shown.spec = specOf(flow, d.node)
	if shown.spec == nil {
		next.missing = notFound("node", flow.Name, d.node)
	}
}

// sendMap sends what has changed on the map of a DaemonJob.
func (d *detail) sendMap(ctx context.Context, nodes changes[corev1.Node], runs changes[daemonRun]) {
	leave, err := drawing.take(ctx, d.v.account())
	if err != nil {
		return // the browser has left
	}
	began := time.Now()
	var job *v1alpha1.DaemonJob
	if d.object != nil {
		job = &v1alpha1.DaemonJob{}
		if utiljson.Unmarshal(d.object, job) != nil {
			job = nil
		}
	}
	changed, gone := d.nodes.update(job, nodes, runs)
	leave()
	sendAll(d.out, "nodes", changed)
	sendAll(d.out, "nodesGone", gone)
	d.out.rest = busyShare * time.Since(began) // the map is computed at most a tenth of the time, however many nodes there are
}

// sendExplained sends a new explanation, and of an object whose pods have no known label the pods that it has found.
func (d *detail) sendExplained(withPods bool) {
	answer := d.explainer.take()
	if answer == nil {
		return
	}
	d.out.send("explain", answer)
	for _, uid := range answer.members {
		d.join(uid)
	}
	if !withPods {
		return
	}
	var changed []podView
	now := map[types.UID]podView{}
	for _, p := range answer.pods {
		now[p.UID] = p
		if before, ok := d.shown[p.UID]; !ok || before.State != p.State || before.Restarts != p.Restarts || before.Ready != p.Ready {
			changed = append(changed, p)
		}
	}
	var gone []types.UID
	for uid := range d.shown {
		if _, ok := now[uid]; !ok {
			gone = append(gone, uid)
		}
	}
	d.shown = now
	sendAll(d.out, "pods", changed)
	sendGone(d.out, "podsGone", gone)
}

// compareNames orders names with numbers as people do: node-2 before node-10.
func compareNames(a, b string) int {
	if len(a) != len(b) && strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789") {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
