package conformance

import (
	"k8s.io/apimachinery/pkg/types"
	batchv1apply "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	mine  = client.FieldOwner(Manager)
	other = client.FieldOwner("other")
)

func apply(s *session) {
	s.apply("create", untypedConfigMap("one", map[string]any{"a": "1", "b": "2"}), mine)
	s.apply("leave out a field", untypedConfigMap("one", map[string]any{"a": "1"}), mine)
	s.apply("own it too", untypedConfigMap("one", map[string]any{"a": "1", "c": "3"}), other)
	s.apply("leave out the shared field", untypedConfigMap("one", map[string]any{}), mine)
	s.apply("with no owner", untypedConfigMap("one", map[string]any{}))
	wrong := untypedConfigMap("one", map[string]any{})
	wrong["apiVersion"] = "v2"
	s.applyAs("with a wrong version", wrong, configMap("one"))

	created := s.given(configMap("created"))
	s.apply("over what was created", untypedConfigMap("created", map[string]any{"a": "1"}), mine)
	s.apply("leaves what was created", untypedConfigMap("created", map[string]any{}), mine)
	s.read("still there", created)

	web := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replicas": int64(0), "paused": true, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "busybox", "env": []any{
					map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "B", "value": "2"},
				}}}},
			},
		},
	}
	s.apply("a workload", web, mine)
	containers := web["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)
	containers[0].(map[string]any)["env"] = []any{map[string]any{"name": "B", "value": "2"}}
	s.apply("leave out an item of a list", web, mine)
	sidecar := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "sidecar", "image": "busybox"},
		}}}},
	}
	s.apply("another adds a container", sidecar, other)
	s.apply("which stays", web, mine)
	web["spec"].(map[string]any)["strategy"] = map[string]any{"type": "Recreate"}
	s.apply("a default of what was before is in the way", web, mine)

	secret := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "key"}, "stringData": map[string]any{"a": "1", "b": "2"},
	}
	s.apply("a secret from strings", secret, mine)
	s.apply("the same strings", secret, mine)
	secret["stringData"] = map[string]any{"a": "3"}
	s.apply("another string, and leave out one", secret, mine)
	s.apply("a pod", map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "pod"}, "spec": map[string]any{
			"nodeSelector": map[string]any{"no-such": "node"},
			"containers":   []any{map[string]any{"name": "main", "image": "busybox"}},
		},
	}, mine)
}

// applyTyped uses apply configurations, as users of client-go do.
func applyTyped(s *session) {
	s.keepStatus = true
	wanted := corev1apply.ConfigMap("typed", s.namespace).WithData(map[string]string{"a": "1"})
	s.did("config map", nil, s.client.Apply(s.ctx, wanted, mine))
	s.note("it has a uid then", wanted.UID != nil && *wanted.UID != "")
	typed := configMap("typed")
	typed.Namespace = s.namespace
	s.read("as stored", typed)
	again := corev1apply.ConfigMap("typed", s.namespace).WithData(map[string]string{"a": "2"})
	s.did("conflict", nil, s.client.Apply(s.ctx, again, other))
	s.did("forced", nil, s.client.Apply(s.ctx, again, other, client.ForceOwnership))
	s.did("dry run", nil, s.client.Apply(s.ctx, corev1apply.ConfigMap("dry", s.namespace), mine, client.DryRunAll))
	s.read("forced, as stored", typed)

	once := s.given(job("once"))
	status := batchv1apply.Job("once", s.namespace).WithStatus(batchv1apply.JobStatus().WithActive(2))
	s.did("status", nil, s.client.Status().Apply(s.ctx, status, mine))
	s.read("status, as stored", once)
	s.did("status of nothing", nil, s.client.Status().Apply(s.ctx, batchv1apply.Job("none", s.namespace), mine))
}

// applyAs sends a patch that is of another kind or version than its URL.
func (s *session) applyAs(name string, body map[string]any, to client.Object) {
	s.t.Helper()
	s.place(to)
	target := like(to)
	data, err := s.untyped(body).MarshalJSON()
	if err != nil {
		s.t.Fatal(err)
	}
	s.did(name, nil, s.client.Patch(s.ctx, target, client.RawPatch(types.ApplyPatchType, data), mine))
}

func applyConflicts(s *session) {
	s.apply("mine", untypedConfigMap("one", map[string]any{"a": "1", "b": "2"}), mine)
	s.apply("another value", untypedConfigMap("one", map[string]any{"a": "x", "b": "y"}), other)
	s.apply("by force", untypedConfigMap("one", map[string]any{"a": "x"}), other, client.ForceOwnership)
	s.apply("mine again", untypedConfigMap("one", map[string]any{"a": "1", "b": "2"}), mine)

	s.given(configMap("created"))
	s.apply("over what an update has set", untypedConfigMap("created", map[string]any{"a": "x"}), other)
	s.apply("even its own", untypedConfigMap("created", map[string]any{"a": "x"}), mine)
}

func applyPreconditions(s *session) {
	missing := untypedConfigMap("missing", map[string]any{})
	missing["metadata"].(map[string]any)["uid"] = "an-uid"
	s.apply("with a uid, and nothing there", missing, mine)

	obj := s.given(configMap("one"))
	wanted := untypedConfigMap("one", map[string]any{"z": "1"})
	metadata := wanted["metadata"].(map[string]any)
	metadata["uid"] = "another"
	s.apply("with another uid", wanted, mine)
	s.apply("with another uid, by force", wanted, mine, client.ForceOwnership)
	metadata["uid"] = string(obj.GetUID())
	s.apply("with its uid", wanted, mine)
	metadata["resourceVersion"] = "1"
	s.apply("with a stale version", wanted, mine)
	delete(metadata, "resourceVersion")
	metadata["managedFields"] = []any{map[string]any{"manager": "x"}}
	s.apply("with managed fields", wanted, mine)
}
