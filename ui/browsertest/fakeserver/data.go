package fakeserver

import (
	"fmt"
	"time"
)

// M is a JSON object.
type M = map[string]any

// AllVerbs are what a viewer may do who may do all.
var AllVerbs = []string{"get", "list", "watch", "create", "patch", "update", "delete"}

// Kinds are the kinds that the page asks for, with the verbs that a viewer has in a namespace ("*": in all).
func Kinds(namespace string, verbs []string) []M {
	var kinds []M
	for _, kind := range []string{
		"JobFlow", "JobTemplate", "DaemonJob", "ReplicaJob", "MiniCluster", "FluxJob", "FluxSetup", "Pinot", "Pod", "PodLog", "Event", "Job", "Node",
	} {
		kinds = append(kinds, M{"kind": kind, "resource": kind, "apiVersion": "api.practice.com/v1alpha1", "namespaced": kind != "FluxSetup",
			"verbs": M{namespace: verbs}})
	}
	return kinds
}

// LetIn gives the page a session of a viewer who may do all.
func (s *Server) LetIn() {
	s.Reply("GET /api/session", 200, M{"mode": "loopback", "user": "alice", "server": "https://127.0.0.1:6443", "namespace": "default",
		"version": "dev", "login": "link", "context": "devcluster"})
	s.Reply("GET /api/access", 200, M{"allNamespaces": true, "namespaces": []string{"default", "ml", "ops"}, "kinds": Kinds("*", AllVerbs)})
}

// Ago writes the time that a number of seconds before now was.
func Ago(seconds int) string {
	return time.Now().Add(-time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
}

// Rows are n objects of several kinds and states.
func Rows(n int) []M {
	kinds := []string{"JobFlow", "ReplicaJob", "DaemonJob", "MiniCluster", "FluxJob"}
	states := []M{{"state": "Running", "tone": "run"}, {"state": "Succeed", "tone": "good"}, {"state": "Failed", "tone": "bad"},
		{"state": "Waiting", "tone": "wait"}, {"state": "Pending", "tone": "quiet"}}
	rows := make([]M, n)
	for i := range rows {
		state := states[(i*7+i/5)%len(states)]
		rows[i] = M{
			"uid": fmt.Sprintf("u%d", i), "kind": kinds[i%len(kinds)], "apiVersion": "api.practice.com/v1alpha1", "namespace": []string{"default", "ml", "ops"}[i%3],
			"name": fmt.Sprintf("job-%04d", i), "state": state["state"], "tone": state["tone"], "reason": "JobsRunning", "message": "3 Jobs are active.",
			"done": i % 12, "total": 12, "failed": i % 2, "created": Ago(i*37 + 5), "labels": M{"team": []string{"red", "blue"}[i%2]},
			"actions": []string{"suspend", "pause", "delete"},
		}
	}
	return rows
}

// BigGraph is a flow of layers of width nodes each. A node depends on three nodes of the layer before.
func BigGraph(layers, width int) M {
	const nodeWidth, nodeHeight, columnGap, rowGap = 160, 40, 60, 8
	n := layers * width
	names, layer, x, y, flags, order := make([]string, n), make([]int, n), make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	var edges []int
	var bounds []M
	for l := range layers {
		bounds = append(bounds, M{"first": l * width, "count": width, "x": l * (nodeWidth + columnGap)})
		for k := range width {
			i := l*width + k
			names[i], layer[i], order[i] = fmt.Sprintf("step-%d-%d", l, k), l, i
			x[i], y[i] = l*(nodeWidth+columnGap), k*(nodeHeight+rowGap)
			if l == 0 {
				continue
			}
			for d := range 3 {
				edges = append(edges, (l-1)*width+(k+d*7)%width, i)
			}
		}
	}
	return M{"names": names, "layer": layer, "x": x, "y": y, "flags": flags, "edges": edges, "layers": bounds, "order": order,
		"width": layers * (nodeWidth + columnGap), "height": width * (nodeHeight + rowGap), "nodeWidth": nodeWidth, "nodeHeight": nodeHeight}
}

// BigNodes are the states of the first started nodes of a big graph: all but the last hundred have succeeded, and one in 500 failed.
func BigNodes(started int) []M {
	nodes := make([]M, started)
	for i := range nodes {
		n := M{"i": i, "state": "Succeed", "tone": "good", "started": Ago(4000 - i/10), "ended": Ago(3900 - i/10), "job": fmt.Sprintf("big-%d", i)}
		switch {
		case i >= started-100:
			n = M{"i": i, "state": "Running", "tone": "run", "started": Ago(60)}
		case i%500 == 250:
			n["state"], n["tone"] = "Failed", "bad"
		}
		nodes[i] = n
	}
	return nodes
}
