package builder_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
)

// staleReads is a client whose cache shows one object as it was.
type staleReads struct {
	client.Client
	shown client.Object
}

func (s staleReads) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	data, err := json.Marshal(s.shown)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// Edits of others that are drift, and are put back.
func TestDriftIsPutBack(t *testing.T) {
	for name, edit := range map[string]func(*appsv1.Deployment){
		"a value":            func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "other" },
		"a label removed":    func(d *appsv1.Deployment) { delete(d.Labels, "ours") },
		"managed-by removed": func(d *appsv1.Deployment) { delete(d.Labels, wellknown.LabelManagedBy) },
		"an annotation":      func(d *appsv1.Deployment) { d.Annotations["ours"] = "theirs" },
		"the digest removed": func(d *appsv1.Deployment) { delete(d.Annotations, wellknown.AnnotationDigest) },
		"an env var removed": func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env = nil },
		"an env var emptied": func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Env[0].Value = "" },
		"a toleration added": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Tolerations = append(d.Spec.Template.Spec.Tolerations, corev1.Toleration{Key: "b", Operator: corev1.TolerationOpExists})
		},
		"a toleration removed": func(d *appsv1.Deployment) { d.Spec.Template.Spec.Tolerations = nil },
		"a probe removed":      func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].LivenessProbe = nil },
		"a zero":               func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](1) },
		"a false":              func(d *appsv1.Deployment) { d.Spec.Template.Spec.EnableServiceLinks = new(true) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &appsv1.Deployment{})
			wanted := webDeployment()
			wanted.Labels, wanted.Annotations = map[string]string{"ours": "1"}, map[string]string{"ours": "1"}
			wanted.Spec.Template.Spec.EnableServiceLinks = new(false)
			w.mustWant(true, "create", wanted)
			w.mustWant(false, "created", wanted)
			before := w.get(wanted).(*appsv1.Deployment)
			for range 2 { // once as created, once as applied
				w.edit(wanted, func(o client.Object) { edit(o.(*appsv1.Deployment)) })
				w.mustWant(true, "drift", wanted)
				w.mustWant(false, "repaired", wanted)
			}
			after := w.get(wanted).(*appsv1.Deployment)
			assert.Equal(t, before.Spec, after.Spec)
			assert.Equal(t, before.Labels, after.Labels)
			delete(before.Annotations, "deployment.kubernetes.io/revision")
			for k, v := range before.Annotations {
				assert.Equal(t, v, after.Annotations[k])
			}
		})
	}
}

// Differences that aren't drift: defaults and what others add.
func TestWhatIsNoDrift(t *testing.T) {
	for name, edit := range map[string]func(*appsv1.Deployment){
		"only defaults": func(*appsv1.Deployment) {},
		"a sidecar": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy", Image: "x"})
		},
		"a sidecar in front": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers = append([]corev1.Container{{Name: "proxy", Image: "x"}}, d.Spec.Template.Spec.Containers...)
		},
		"labels": func(d *appsv1.Deployment) {
			d.Labels = map[string]string{"theirs": "1", wellknown.LabelManagedBy: wellknown.ManagedBy}
		},
		"an unset period": func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].LivenessProbe.PeriodSeconds = 30 },
		"an unset grace":  func(d *appsv1.Deployment) { d.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](5) },
		"an env var": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Env = append(d.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: "THEIRS"})
		},
		"a volume": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Volumes = append(d.Spec.Template.Spec.Volumes, corev1.Volume{Name: "theirs"})
		},
		"a restart": func(d *appsv1.Deployment) {
			d.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &appsv1.Deployment{})
			wanted := webDeployment()
			w.mustWant(true, "create", wanted)
			w.edit(wanted, func(o client.Object) { edit(o.(*appsv1.Deployment)) })
			edited := w.get(wanted).(*appsv1.Deployment)
			w.mustWant(false, "theirs", wanted)
			fresh := builder.NewEngine(w.cached, builder.Options{Name: "tester"}) // nothing in its memory
			w.sent.reset()
			_, err := fresh.For(w.owner).Deployment(wanted).Reconcile(w.ctx)
			require.NoError(t, err)
			assert.Empty(t, w.sent.all())
			wanted.Spec.Template.Spec.Containers[0].Image = "other"
			w.mustWant(true, "ours changes", wanted)
			w.mustWant(false, "changed", wanted)
			edited.Spec.Template.Spec.Containers[len(edited.Spec.Template.Spec.Containers)-1].Image = ""
			got := w.get(wanted).(*appsv1.Deployment)
			assert.Len(t, got.Spec.Template.Spec.Containers, len(edited.Spec.Template.Spec.Containers))
			assert.Equal(t, edited.Labels, got.Labels)
			assert.Equal(t, edited.Spec.Template.Annotations, got.Spec.Template.Annotations)
			assert.ElementsMatch(t, edited.Spec.Template.Spec.Volumes, got.Spec.Template.Spec.Volumes)
			if name == "an unset period" {
				assert.EqualValues(t, 30, got.Spec.Template.Spec.Containers[0].LivenessProbe.PeriodSeconds)
			}
			if name == "an unset grace" {
				assert.EqualValues(t, 5, *got.Spec.Template.Spec.TerminationGracePeriodSeconds)
			}
		})
	}
}

func TestDeletedChildIsMadeAgain(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	wanted := configMap("child", "a", "1")
	w.mustWant(true, "create", wanted)
	before := w.get(wanted).GetUID()
	require.NoError(t, w.live.Delete(w.ctx, w.get(wanted)))
	w.eventually(func() bool {
		res, _, err := w.want(wanted)
		return err == nil && len(res.Changes) > 0
	}, "the deleted child")
	assert.NotEqual(t, before, w.get(wanted).GetUID())
	assert.True(t, metav1.IsControlledBy(w.get(wanted), w.owner))
}
