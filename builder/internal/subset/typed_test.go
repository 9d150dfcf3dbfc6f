package subset

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// deployment is what a user wants: little of what the API server will store.
func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeSelector: map[string]string{"disk": "ssd"},
					Tolerations:  []corev1.Toleration{{Key: "a"}, {Key: "b"}},
					Volumes:      []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
					Containers: []corev1.Container{{
						Name: "web", Image: "nginx", Args: []string{"-v"},
						Env:   []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B"}},
						Ports: []corev1.ContainerPort{{ContainerPort: 53, Protocol: "TCP"}, {ContainerPort: 53, Protocol: "UDP"}},
						Resources: corev1.ResourceRequirements{
							Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m")},
						},
						LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
							HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(53)},
						}},
					}},
				},
			},
		},
	}
}

// stored is what the API server makes of it.
func stored() *appsv1.Deployment {
	d := deployment()
	d.UID, d.ResourceVersion, d.Generation, d.CreationTimestamp = "u", "1", 1, metav1.Now()
	d.Annotations = map[string]string{"deployment.kubernetes.io/revision": "1"}
	d.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	d.Spec.ProgressDeadlineSeconds = ptr.To[int32](600)
	d.Status.Replicas = 2
	pod := &d.Spec.Template.Spec
	pod.RestartPolicy, pod.DNSPolicy, pod.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, "default-scheduler"
	pod.SecurityContext = &corev1.PodSecurityContext{}
	c := &pod.Containers[0]
	c.TerminationMessagePath, c.ImagePullPolicy = "/dev/termination-log", corev1.PullAlways
	c.LivenessProbe.PeriodSeconds, c.LivenessProbe.HTTPGet.Scheme = 10, corev1.URISchemeHTTP
	c.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("1")
	c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	return d
}

func TestDeployment(t *testing.T) {
	cases := map[string]struct {
		change    func(wanted, found *appsv1.Deployment)
		contained bool
	}{
		"as stored, with defaults": {func(_, _ *appsv1.Deployment) {}, true},
		"replicas changed":         {func(_, f *appsv1.Deployment) { f.Spec.Replicas = ptr.To[int32](3) }, false},
		"replicas 0 wanted":        {func(w, _ *appsv1.Deployment) { w.Spec.Replicas = ptr.To[int32](0) }, false},
		"replicas left to others":  {func(w, f *appsv1.Deployment) { w.Spec.Replicas = nil; *f.Spec.Replicas = 9 }, true},
		"label removed":            {func(_, f *appsv1.Deployment) { f.Labels = nil }, false},
		"label added":              {func(_, f *appsv1.Deployment) { f.Labels = map[string]string{"app": "web", "x": "y"} }, true},
		"label wanted empty":       {func(w, _ *appsv1.Deployment) { w.Labels = map[string]string{} }, true},
		"selector narrowed": {func(_, f *appsv1.Deployment) {
			f.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "x": "y"}}
		}, false},
		"node selector narrowed": {func(_, f *appsv1.Deployment) {
			f.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd", "x": "y"}
		}, false},
		"toleration removed":   {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Tolerations = f.Spec.Template.Spec.Tolerations[:1] }, false},
		"toleration added":     {func(w, _ *appsv1.Deployment) { w.Spec.Template.Spec.Tolerations = w.Spec.Template.Spec.Tolerations[:1] }, false},
		"tolerations not ours": {func(w, _ *appsv1.Deployment) { w.Spec.Template.Spec.Tolerations = nil }, true},
		"sidecar injected": {func(_, f *appsv1.Deployment) {
			f.Spec.Template.Spec.Containers = append([]corev1.Container{{Name: "proxy"}}, f.Spec.Template.Spec.Containers...)
		}, true},
		"container replaced": {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Containers[0].Name = "other" }, false},
		"container removed":  {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Containers = nil }, false},
		"image changed":      {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Containers[0].Image = "x" }, false},
		"argument changed":   {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Containers[0].Args[0] = "-x" }, false},
		"argument added": {func(_, f *appsv1.Deployment) {
			f.Spec.Template.Spec.Containers[0].Args = []string{"-v", "-x"}
		}, false},
		"env changed": {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Containers[0].Env[0].Value = "2" }, false},
		"env removed": {func(_, f *appsv1.Deployment) {
			f.Spec.Template.Spec.Containers[0].Env = f.Spec.Template.Spec.Containers[0].Env[:1]
		}, false},
		"env in another order": {func(_, f *appsv1.Deployment) {
			env := f.Spec.Template.Spec.Containers[0].Env
			env[0], env[1] = env[1], env[0]
		}, false}, // a variable may refer to those before it
		"env in the same order, with others' between": {func(_, f *appsv1.Deployment) {
			c := &f.Spec.Template.Spec.Containers[0]
			c.Env = []corev1.EnvVar{{Name: "X"}, c.Env[0], {Name: "Y"}, c.Env[1]}
		}, true},
		"env of a name once more": {func(_, f *appsv1.Deployment) {
			c := &f.Spec.Template.Spec.Containers[0]
			c.Env = append(c.Env, corev1.EnvVar{Name: "A", Value: "2"})
		}, false},
		"env of a name once more, in front": {func(_, f *appsv1.Deployment) {
			c := &f.Spec.Template.Spec.Containers[0]
			c.Env = append([]corev1.EnvVar{{Name: "A", Value: "2"}}, c.Env...)
		}, false},
		"env of a name twice, as wanted": {func(w, f *appsv1.Deployment) {
			for _, d := range []*appsv1.Deployment{w, f} {
				c := &d.Spec.Template.Spec.Containers[0]
				c.Env = append(c.Env, corev1.EnvVar{Name: "A", Value: "2"})
			}
		}, true},
		"containers in another order": {func(w, f *appsv1.Deployment) {
			w.Spec.Template.Spec.Containers = append(w.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy"})
			f.Spec.Template.Spec.Containers = append([]corev1.Container{{Name: "proxy"}}, f.Spec.Template.Spec.Containers...)
		}, true},
		"init containers in another order": {func(w, f *appsv1.Deployment) {
			w.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "first"}, {Name: "second"}}
			f.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "second"}, {Name: "first"}}
		}, false},
		"one of two ports of a number gone": {func(_, f *appsv1.Deployment) {
			f.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 53, Protocol: "UDP"}, {ContainerPort: 80, Protocol: "TCP"}}
		}, false},
		"ports of a number, one without a protocol": {func(w, f *appsv1.Deployment) {
			w.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 53}, {ContainerPort: 53, Protocol: "UDP"}}
			f.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 53, Protocol: "UDP"}, {ContainerPort: 53, Protocol: "TCP"}}
		}, true},
		"two ports wanted, one found twice over": {func(w, f *appsv1.Deployment) {
			w.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 53}, {ContainerPort: 53, Protocol: "UDP"}}
			f.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 53, Protocol: "UDP"}, {ContainerPort: 80}}
		}, false},
		"port's protocol changed": {func(w, f *appsv1.Deployment) {
			w.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
			f.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, Protocol: "UDP"}}
		}, false},
		"port's protocol defaulted": {func(w, f *appsv1.Deployment) {
			w.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
			f.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}}
		}, true},
		"env's source made optional": {func(w, f *appsv1.Deployment) {
			from := func(optional *bool) []corev1.EnvVar {
				return []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k", Optional: optional,
				}}}}
			}
			w.Spec.Template.Spec.Containers[0].Env, f.Spec.Template.Spec.Containers[0].Env = from(nil), from(new(true))
		}, false},
		"field reference's version defaulted": {func(w, f *appsv1.Deployment) {
			from := func(version string) []corev1.EnvVar {
				return []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{APIVersion: version, FieldPath: "status.podIP"},
				}}}
			}
			w.Spec.Template.Spec.Containers[0].Env, f.Spec.Template.Spec.Containers[0].Env = from(""), from("v1")
		}, true},
		"device claimed by others": {func(w, f *appsv1.Deployment) {
			w.Spec.Template.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "a"}}
			f.Spec.Template.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "b"}, {Name: "a"}}
		}, true},
		"limit changed": {func(_, f *appsv1.Deployment) {
			f.Spec.Template.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("2")
		}, false},
		"limit removed": {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Containers[0].Resources.Limits = nil }, false},
		"probe's port by name": {func(_, f *appsv1.Deployment) {
			f.Spec.Template.Spec.Containers[0].LivenessProbe.HTTPGet.Port = intstr.FromString("53")
		}, false},
		"probe's default changed by others": {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Containers[0].LivenessProbe.PeriodSeconds = 30 }, true},
		"probe removed":                     {func(_, f *appsv1.Deployment) { f.Spec.Template.Spec.Containers[0].LivenessProbe = nil }, false},
		"volume's source changed": {func(_, f *appsv1.Deployment) {
			f.Spec.Template.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
		}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			wanted, found := deployment(), stored()
			c.change(wanted, found)
			assert.Equal(t, c.contained, Typed(wanted, found))
		})
	}
}

func TestValues(t *testing.T) {
	now := time.Now()
	secret := func(data map[string][]byte) *corev1.Secret { return &corev1.Secret{Data: data} }
	budget := func(n *intstr.IntOrString) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: n}}
	}
	policy := func(s metav1.LabelSelector) *networkingv1.NetworkPolicy {
		return &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{PodSelector: s}}
	}
	peers := func(s *metav1.LabelSelector) *networkingv1.NetworkPolicy {
		return &networkingv1.NetworkPolicy{Spec: networkingv1.NetworkPolicySpec{
			Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: s}}}},
		}}
	}
	service := func(selector map[string]string) *corev1.Service {
		return &corev1.Service{Spec: corev1.ServiceSpec{Selector: selector}}
	}
	some := metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	cases := map[string]struct {
		wanted, found any
		contained     bool
	}{
		"nil and empty data":         {secret(nil), secret(map[string][]byte{}), true},
		"empty and nil data":         {secret(map[string][]byte{}), secret(nil), true},
		"same data":                  {secret(map[string][]byte{"k": []byte("v")}), secret(map[string][]byte{"k": []byte("v"), "x": nil}), true},
		"other data":                 {secret(map[string][]byte{"k": []byte("v")}), secret(map[string][]byte{"k": []byte("w")}), false},
		"empty value, as wanted":     {secret(map[string][]byte{"k": nil}), secret(map[string][]byte{"k": {}}), true},
		"empty value, filled":        {secret(map[string][]byte{"k": nil}), secret(map[string][]byte{"k": []byte("v")}), false},
		"empty value, gone":          {secret(map[string][]byte{"k": nil}), secret(nil), false},
		"zero behind a pointer":      {budget(new(intstr.FromInt32(0))), budget(new(intstr.FromInt32(1))), false},
		"zero and a percentage":      {budget(new(intstr.FromInt32(0))), budget(new(intstr.FromString("25%"))), false},
		"zero as wanted":             {budget(new(intstr.FromInt32(0))), budget(new(intstr.FromInt32(0))), true},
		"all pods, as wanted":        {policy(metav1.LabelSelector{}), policy(metav1.LabelSelector{}), true},
		"all pods, narrowed":         {policy(metav1.LabelSelector{}), policy(some), false},
		"some pods, widened":         {policy(some), policy(metav1.LabelSelector{}), false},
		"all peers, narrowed":        {peers(&metav1.LabelSelector{}), peers(&some), false},
		"all peers, as wanted":       {peers(&metav1.LabelSelector{}), peers(&metav1.LabelSelector{MatchLabels: map[string]string{}}), true},
		"service selector narrowed":  {service(map[string]string{"a": "b"}), service(map[string]string{"a": "b", "c": "d"}), false},
		"service selector as wanted": {service(map[string]string{"a": "b"}), service(map[string]string{"a": "b"}), true},
		"finalizer added":            {meta("a"), meta("b", "a"), true},
		"finalizer removed":          {meta("a", "b"), meta("b"), false},
		"time":                       {metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)}, metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.UTC())}, true},
		"other time":                 {metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)}, metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(time.Minute))}, false},
		"types differ":               {secret(nil), budget(nil), false},
		"nil":                        {nil, secret(nil), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.contained, Typed(c.wanted, c.found))
		})
	}
}

func meta(finalizers ...string) metav1.ObjectMeta { return metav1.ObjectMeta{Finalizers: finalizers} }

// custom is a part of a custom resource: what its JSON always has is sent even if it is empty.
type custom struct {
	Always   int32              `json:"always"`
	List     []string           `json:"list"`
	Port     intstr.IntOrString `json:"port"`
	Optional int32              `json:"optional,omitempty"`
}

func TestFieldsOfCustomResources(t *testing.T) {
	cases := map[string]struct {
		wanted, found custom
		contained     bool
	}{
		"zero, changed":             {custom{}, custom{Always: 3}, false},
		"zero, as wanted":           {custom{}, custom{}, true},
		"optional, defaulted":       {custom{}, custom{Optional: 3}, true},
		"no list, defaulted":        {custom{}, custom{List: []string{"a"}}, true},
		"empty list, filled":        {custom{List: []string{}}, custom{List: []string{"a"}}, false},
		"empty list, none":          {custom{List: []string{}}, custom{}, true},
		"number or string, changed": {custom{}, custom{Port: intstr.FromInt32(1)}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.contained, Typed(c.wanted, c.found))
		})
	}
}
