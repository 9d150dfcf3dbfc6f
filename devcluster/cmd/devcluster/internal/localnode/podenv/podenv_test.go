package podenv

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

var pod = &corev1.Pod{
	ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "p", UID: "u-1",
		Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"x.io/note": "n"},
	},
	Spec: corev1.PodSpec{
		NodeName: "node-1", ServiceAccountName: "sa",
		Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")},
		}}},
	},
	Status: corev1.PodStatus{
		HostIP: "127.0.0.1", HostIPs: []corev1.HostIP{{IP: "127.0.0.1"}},
		PodIP: "127.1.0.1", PodIPs: []corev1.PodIP{{IP: "127.1.0.1"}},
	},
}

func source() Source {
	return Source{
		Pod: pod, Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")},
		Objects: Live{Client: fake.NewClientset(
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cm"}, Data: map[string]string{"a": "1", "b": "2"}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}, Data: map[string][]byte{"pw": []byte("x")}},
		)},
	}
}

func literal(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

func field(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func amount(name, what, divisor string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
		Resource: what, Divisor: resource.MustParse(divisor),
	}}}
}

func configMapKey(name, object, key string, optional bool) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: object}, Key: key, Optional: new(optional),
	}}}
}

func secretKey(name, object, key string, optional bool) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: object}, Key: key, Optional: new(optional),
	}}}
}

func fromConfigMap(prefix, name string, optional bool) corev1.EnvFromSource {
	return corev1.EnvFromSource{Prefix: prefix, ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: new(optional),
	}}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		name      string
		container corev1.Container
		want      string // NAME=value, separated by spaces
		err       string
	}{
		{name: "nothing"},
		{name: "literals and references", container: corev1.Container{Env: []corev1.EnvVar{
			literal("A", "1"), literal("B", "$(A)$(BASE)"), literal("C", "$$(A)-$(NONE)-$(D)"), literal("D", "4"),
		}}, want: "A=1 B=1base C=$(A)-$(NONE)-$(D) D=4"},
		{name: "a later declaration wins", container: corev1.Container{Env: []corev1.EnvVar{literal("A", "1"), literal("A", "2")}}, want: "A=2"},
		{name: "envFrom, prefix, override", container: corev1.Container{
			EnvFrom: []corev1.EnvFromSource{fromConfigMap("", "cm", false), fromConfigMap("P_", "cm", false), fromConfigMap("", "none", true)},
			Env:     []corev1.EnvVar{literal("a", "own"), literal("R", "$(P_b)")},
		}, want: "a=own b=2 P_a=1 P_b=2 R=2"},
		{name: "keys", container: corev1.Container{Env: []corev1.EnvVar{
			configMapKey("A", "cm", "a", false), secretKey("S", "s", "pw", false),
			configMapKey("O1", "cm", "none", true), secretKey("O2", "none", "x", true),
		}}, want: "A=1 S=x"},
		{name: "fields", container: corev1.Container{Env: []corev1.EnvVar{
			field("N", "metadata.name"), field("NS", "metadata.namespace"), field("U", "metadata.uid"),
			field("L", "metadata.labels['app']"), field("AN", "metadata.annotations['x.io/note']"), field("L0", "metadata.labels['none']"),
			field("NODE", "spec.nodeName"), field("SA", "spec.serviceAccountName"),
			field("H", "status.hostIP"), field("HS", "status.hostIPs"), field("P", "status.podIP"), field("PS", "status.podIPs"),
		}}, want: "N=p NS=ns U=u-1 L=web AN=n L0= NODE=node-1 SA=sa H=127.0.0.1 HS=127.0.0.1 P=127.1.0.1 PS=127.1.0.1"},
		{name: "resources", container: corev1.Container{Name: "c", Env: []corev1.EnvVar{
			amount("M", "limits.memory", "1Mi"), amount("R", "requests.cpu", "1m"), amount("NODE_CPU", "limits.cpu", "1"),
		}}, want: "M=64 R=250 NODE_CPU=8"},
		{name: "no ConfigMap", container: corev1.Container{Env: []corev1.EnvVar{configMapKey("A", "none", "a", false)}}, err: `configmaps "none" not found`},
		{name: "no key", container: corev1.Container{Env: []corev1.EnvVar{secretKey("A", "s", "none", false)}}, err: "couldn't find key none in Secret ns/s"},
		{name: "no envFrom", container: corev1.Container{EnvFrom: []corev1.EnvFromSource{fromConfigMap("", "none", false)}}, err: `configmaps "none" not found`},
		{name: "unknown field", container: corev1.Container{Env: []corev1.EnvVar{field("A", "spec.color")}}, err: `fieldRef "spec.color"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			vars, err := Resolve(t.Context(), source(), &c.container, map[string]string{"BASE": "base"})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error is %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range vars {
				got = append(got, v.Name+"="+v.Value)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), c.want)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	vars := []Var{{"A", "1"}, {"B", "x y"}}
	got := Expand([]string{"echo", "$(A)/$(B)", "$(date)", "$$(A)", "$(ROOT)"}, vars, map[string]string{"ROOT": "/r"})
	if want := []string{"echo", "1/x y", "$(date)", "$(A)", "/r"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := ExpandStrict("$(A)/$(NONE)", vars, nil); err == nil || !strings.Contains(err.Error(), "NONE") {
		t.Errorf("error is %v, want one that names NONE", err)
	}
}
