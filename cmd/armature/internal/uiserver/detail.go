package uiserver

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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

	object    *unstructured.Unstructured
	eventLog  *eventLog
	nodes     *nodeMap
	explainer *explainer
	reminder  *reminder
	shown     map[types.UID]podView // of an object whose pods are found by its family
}

// whole keeps all of an object. Explanations read from the managed fields when it was changed, and by whom.
func whole(u *unstructured.Unstructured) *unstructured.Unstructured { return u }

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
			d.setObject(c.set[0])
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
			if began := time.Now(); len(c.set)+len(n.set)+len(n.gone)+len(r.set)+len(r.gone) > 0 {
				d.sendMap(n, r)
				out.rest = busyShare * time.Since(began) // the map is computed at most a tenth of the time, however many nodes there are
			}
			synced = synced && n.synced && r.synced
		}
		if isNews {
			d.reminder.changed()
		}
		if d.object != nil && (isNews || d.reminder.isDue() && !d.isOver()) {
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

// isOver reports whether nothing is to happen to the object any more.
func (d *detail) isOver() bool {
	o := diagnose.NewObject(d.object, nil)
	return o.HasEnded() && !diagnose.IsRetried(o)
}

// setObject sends a new version of the object.
func (d *detail) setObject(u *unstructured.Unstructured) {
	d.object = u
	d.join(u.GetUID())
	shown := objectView{Row: rowOf(u), Object: shownOf(u)}
	shown.Row.Labels = u.GetLabels()
	if d.kind.Kind == "JobFlow" && d.kind.Group == v1alpha1.GroupVersion.Group {
		d.addFlow(u, &shown)
	}
	text, err := yaml.Marshal(shown.Object)
	if err != nil {
		text = []byte(err.Error())
	}
	shown.YAML = string(text)
	if shown.spec != nil {
		if text, err := yaml.Marshal(shown.spec); err == nil {
			shown.YAML = string(text)
		}
	}
	d.out.send("object", shown)
}

// addFlow adds to a flow its inputs and outputs, or the one node that is asked for.
func (d *detail) addFlow(u *unstructured.Unstructured, shown *objectView) {
	flow := &v1alpha1.JobFlow{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, flow) != nil {
		return
	}
	d.out.send("io", inputsOutputsOf(flow, d.node))
	if len(flow.Spec.Flows) > maxInline {
		shown.Object = without(shown.Object, "spec")
	}
	if d.node == "" {
		return
	}
	shown.spec = specOf(flow, d.node)
	if shown.spec == nil {
		d.out.end(notFound("node", flow.Name, d.node))
	}
}

// sendMap sends what has changed on the map of a DaemonJob.
func (d *detail) sendMap(nodes changes[corev1.Node], runs changes[daemonRun]) {
	var job *v1alpha1.DaemonJob
	if d.object != nil {
		job = &v1alpha1.DaemonJob{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(d.object.Object, job) != nil {
			job = nil
		}
	}
	changed, gone := d.nodes.update(job, nodes, runs)
	sendAll(d.out, "nodes", changed)
	sendAll(d.out, "nodesGone", gone)
}

// sendExplained sends a new explanation, and of an object whose pods have no known label the pods that it has found.
func (d *detail) sendExplained(withPods bool) {
	answer := d.explainer.take()
	if answer == nil {
		return
	}
	d.out.send("explain", answer)
	var changed []podView
	now := map[types.UID]podView{}
	for _, m := range answer.members {
		d.join(m.GetUID())
		if withPods && m.GetKind() == "Pod" && m.GetAPIVersion() == "v1" && len(now) < maxPods {
			p := podViewOf(m.Unstructured)
			now[p.UID] = p
			if before, ok := d.shown[p.UID]; !ok || before.State != p.State || before.Restarts != p.Restarts || before.Ready != p.Ready {
				changed = append(changed, p)
			}
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
