package fakeserver

import "maps"

// Small fills the server with one object for each screen. Text, such as markup, is a part of every name, message, log and value.
func (s *Server) Small(text string) {
	row := func(kind, name string, more M) M {
		r := M{"uid": kind + name, "kind": kind, "apiVersion": "api.practice.com/v1alpha1", "namespace": "ml", "name": name,
			"created": Ago(420),
			"labels":  M{"team": "vision" + text}, "message": "3 of 8 Jobs have ended." + text, "reason": "JobsRunning" + text}
		maps.Copy(r, more)
		return r
	}
	flow := row("JobFlow", "nightly"+text, M{"state": "Running", "tone": "run", "started": Ago(400), "done": 3, "total": 8, "failed": 1,
		"actions": []string{"suspend", "terminate", "retry", "pause", "delete"},
		"counts":  M{"total": 8, "succeeded": 3, "running": 1, "failed": 1, "skipped": 1, "pending": 2}})
	daemon := row("DaemonJob", "wipe-disks"+text, M{"state": "Running", "tone": "run", "done": 180, "total": 240, "failed": 3,
		"started": Ago(100),
		"actions": []string{"suspend", "delete"}})
	replica := row("ReplicaJob", "train"+text, M{"state": "Running", "tone": "run", "started": Ago(300)})
	mini := row("MiniCluster", "lammps"+text, M{"state": "Running", "tone": "run", "size": 16})
	pinot := row("Pinot", "events"+text, M{"state": "Upgrading", "tone": "wait", "done": 3, "total": 5})
	s.Stream("objects", "", E("set", []M{flow, daemon, replica, mini, pinot}))

	node := func(i int, state, tone string, from, to int, more M) M {
		n := M{"i": i, "state": state, "tone": tone, "job": "nightly-x"}
		if from > 0 {
			n["started"] = Ago(from)
		}
		if to > 0 {
			n["ended"] = Ago(to)
		}
		maps.Copy(n, more)
		return n
	}
	names := []string{"fetch", "check", "clean", "features", "train" + text, "lint", "publish", "clean-up"}
	layer := []int{0, 1, 1, 2, 3, 2, 4, 5}
	x, y := make([]int, 8), []int{60, 24, 96, 24, 60, 96, 60, 60}
	var layers []M
	order := []int{0, 1, 2, 3, 5, 4, 6, 7}
	for i, l := range layer {
		x[i] = l * 240
	}
	first := 0
	for l, n := range []int{1, 2, 2, 1, 1, 1} {
		layers = append(layers, M{"first": first, "count": n, "x": l * 240})
		first += n
	}
	s.Stream("flow", "ml/nightly"+text, E("flow", flow), E("graph", M{"names": names, "layer": layer, "x": x, "y": y,
		"flags": []int{0, 0, 0, 2, 0, 4, 8, 1}, "edges": []int{0, 1, 0, 2, 1, 3, 2, 3, 3, 4, 1, 5, 4, 6, 5, 6}, "layers": layers,
		"order": order,
		"width": 1360, "height": 140, "nodeWidth": 160, "nodeHeight": 36, "when": M{"6": "jobs.train.succeeded" + text}}),
		E("nodes", []M{node(0, "Succeed", "good", 395, 350, nil), node(1, "Succeed", "good", 345, 330, nil), node(2, "Succeed",
			"good", 349, 260, nil),
			node(3, "Running", "run", 250, 0, M{"attempts": 2, "message": "item 4 runs" + text}),
			node(5, "Failed", "bad", 320, 310, M{"message": "exit code 3" + text})}))

	pods := func(role string, n int) []M {
		list := make([]M, n)
		for i := range list {
			list[i] = M{"uid": role + name(i), "name": "pod-" + role + "-" + name(i) + text, "namespace": "ml", "state": "Running", "tone": "run",
				"node": "node-" + name(i%240) + text, "created": Ago(200), "started": Ago(190), "rank": i, "ready": i%3 > 0,
				"containers": []M{{"name": "main" + text, "state": "running", "reason": text}}}
			if role != "" {
				list[i]["role"] = role
			}
		}
		return list
	}
	explain := M{"phase": "Blocked", "reason": "ImagePull",
		"message": "The image registry.local/train:v9 can't be pulled: it doesn't exist." + text,
		"next":    "Correct the image in spec.flows[4], or push it." + text, "path": []M{{"kind": "JobFlow", "name": "nightly" + text,
			"state": "Running"},
			{"kind": "Job", "name": "nightly-train" + text}, {"kind": "Pod", "name": "nightly-train-x" + text}}, "others": 2,
		"unread": []string{"list Nodes" + text}}
	common := []Event{E("explain", explain), E("pods", pods("", 3)),
		E("events", []M{{"uid": "e1", "type": "Warning", "reason": "Failed" + text, "message": "Error: ImagePullBackOff" + text,
			"count": 12, "last": Ago(20), "about": "Pod/x" + text}}),
		E("io", M{"inputs": []M{{"name": "REGION" + text, "value": "north" + text, "from": "globalParams" + text}},
			"outputs": []M{{"name": "rows" + text, "value": "42" + text}}})}
	object := func(row M, status M) Event {
		return E("object", M{"row": row, "yaml": "apiVersion: v1\nkind: Any\nmetadata:\n  name: x" + text + "\n", "object": M{"status": status}})
	}
	for _, n := range names {
		s.Stream("detail", "JobFlow/ml/nightly"+text+"/"+n, append([]Event{object(flow, nil)}, common...)...)
	}
	conditions := []M{{"type": "Ready" + text, "status": "False", "reason": "Progressing" + text,
		"message": "2 of 4 node types are ready." + text}}
	s.Stream("detail", "JobFlow/ml/nightly"+text+"/", append([]Event{object(flow, M{"conditions": conditions})}, common...)...)
	var squares []M
	for i := range 240 {
		square := M{"name": "node-" + name(i) + text, "state": "Succeed", "tone": "good", "message": text}
		switch {
		case i > 200:
			square["state"], square["tone"] = "Running", "run"
		case i == 17, i == 63, i == 118:
			square["state"], square["tone"], square["message"] = "Failed", "bad", "exit code 1"+text
		}
		squares = append(squares, square)
	}
	s.Stream("detail", "DaemonJob/ml/wipe-disks"+text+"/", append([]Event{object(daemon, M{"conditions": conditions}), E("nodes",
		squares)}, common...)...)
	s.Stream("detail", "ReplicaJob/ml/train"+text+"/", object(replica, M{"conditions": conditions}), E("explain",
		M{"phase": "Running", "message": "All replicas run."}),
		E("pods", append(pods("Chief"+text, 1), pods("Worker", 12)...)))
	s.Stream("detail", "MiniCluster/ml/lammps"+text+"/", object(mini, nil), E("pods", pods("", 14)))
	s.Stream("detail", "Pinot/ml/events"+text+"/", object(pinot, M{"phase": "Upgrading" + text, "conditions": append(conditions,
		M{"type": "Stalled", "status": "True", "reason": "PhaseFailed" + text,
			"message": "broker: 1 of 2 pods isn't ready for 10m; the node types behind it wait." + text}),
		"upgrade": M{"startedAt": Ago(700), "fromRevision": "a1b2" + text, "toRevision": "c3d4"},
		"nodeTypes": []M{{"name": "controller" + text, "state": "Ready", "revision": "c3d4", "ready": 3, "desired": 3},
			{"name": "broker", "state": "Failed" + text, "revision": "c3d4", "ready": 1, "desired": 2},
			{"name": "server", "state": "Waiting", "revision": "a1b2", "ready": 5, "desired": 5}, {"name": "minion", "state": "Waiting",
				"revision": "a1b2", "ready": 2, "desired": 2}}}))

	var lines []M
	for p := range 3 {
		for i := range 60 {
			lines = append(lines, M{"p": p, "t": "2026-01-02T03:04:" + name(i%60) + ".5Z", "s": "epoch " + name(i) + " loss 0.4" + name(i) + text})
		}
	}
	s.Stream("logs", "", E("lines", lines))
	s.Stream("queues", "", E("set", []M{{"name": "research" + text, "ready": "Active", "strategy": "BestEffortFIFO" + text,
		"cohort": "lab" + text,
		"usage": []M{{"name": "pods" + text, "quota": "40", "used": "38", "free": "2", "share": 0.95}, {"name": "cpu",
			"quota": "64", "used": "80", "share": 1.25}, {"name": "nvidia.com/gpu", "quota": "8", "used": "2", "free": "6", "share": 0.25}},
		"admitted": []M{{"namespace": "ml", "name": "survey" + text, "since": Ago(900), "pods": 8, "resources": M{"cpu": "4" + text},
			"state": "Running"}, {"namespace": "ml", "name": "fold-protein", "since": Ago(3900), "pods": 30, "resources": M{"cpu": "30",
			"nvidia.com/gpu": "2"}, "ends": Ago(-600)}},
		"waiting": []M{{"position": 1, "namespace": "ml", "name": "homework" + text, "since": Ago(300), "priority": 5,
			"reason": "WaitingForQuota" + text, "message": "It needs 4 pods, and 2 are free." + text, "eta": Ago(-600)},
			{"position": 2, "namespace": "ops", "name": "reindex", "since": Ago(100), "reason": "BlockedByHeadOfQueue",
				"message": "ml/homework is before it.", "etaUnknown": "job ml/homework has no deadlineSeconds" + text}},
		"pending": 2}}))
	s.Reply("GET /api/compare", 200, M{"a": flow, "b": row("JobFlow", "nightly-2"+text, M{"state": "Succeed", "tone": "good",
		"counts": M{"total": 8, "succeeded": 8}}),
		"nodes": []M{{"name": "train" + text, "a": M{"i": 1, "state": "Succeed", "tone": "good"}, "b": M{"i": 1,
			"state": "Failed" + text, "tone": "bad"}, "aSeconds": 90.5, "bSeconds": 121, "delta": 30.5},
			{"name": "fetch", "a": M{"i": 0, "state": "Succeed", "tone": "good"}, "b": M{"i": 0, "state": "Succeed", "tone": "good"},
				"aSeconds": 44, "bSeconds": 40, "delta": -4}},
		"spec": []M{{"path": "spec.parallelism" + text, "a": "2" + text, "b": "4" + text}}})
	s.Reply("GET /api/schema", 200,
		M{"example": "apiVersion: api.practice.com/v1alpha1\nkind: JobFlow\nmetadata:\n  name: example\nspec:\n" +
			"  flows:\n  - name: a\n    dependencies: []\n",
			"schema": M{"type": "object", "description": "The desired state." + text, "required": []string{"flows"}, "properties": M{
				"parallelism": M{"type": "integer", "minimum": 1, "description": "Parallelism is the most active Jobs." + text},
				"failFast":    M{"type": "boolean"}, "endOfJob": M{"type": "string", "enum": []string{"Pods", "Condition"}},
				"labels" + text: M{"type": "object", "additionalProperties": M{"type": "string"}},
				"flows": M{"type": "array", "description": "Flows are the nodes." + text, "items": M{"type": "object",
					"required": []string{"name"}, "properties": M{
						"name": M{"type": "string"}, "dependencies": M{"type": "array", "items": M{"type": "string"}}, "when": M{"type": "string"}}}}}}})
	s.Reply("POST /api/submit", 422, M{"error": "JobFlow example is invalid" + text, "fields": []M{{"field": "spec.flows[0].name",
		"message": "must be a DNS label" + text}}})
	s.Reply("POST /api/actions", 200, M{"changed": true, "message": "suspended" + text})
}

func name(i int) string {
	const digits = "0123456789"
	return string([]byte{digits[i/100%10], digits[i/10%10], digits[i%10]})
}
