package confighash

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// places are the positions of pod templates, as Go and as JSON fields.
var places = []struct{ fields, json []string }{
	{[]string{"Spec", "Template"}, []string{"spec", "template"}},
	{[]string{"Spec", "JobTemplate", "Spec", "Template"}, []string{"spec", "jobTemplate", "spec", "template"}},
	{[]string{"Template"}, []string{"template"}},
}

// templateOf returns the pod template of a typed object, or nil.
func templateOf(obj client.Object) *corev1.PodTemplateSpec {
	for _, place := range places {
		v := reflect.ValueOf(obj).Elem()
		for _, name := range place.fields {
			if v.Kind() == reflect.Pointer {
				v = v.Elem()
			}
			if v.Kind() != reflect.Struct {
				v = reflect.Value{}
				break
			}
			v = v.FieldByName(name)
		}
		if v.Kind() == reflect.Struct {
			v = v.Addr()
		}
		if v.IsValid() {
			if template, ok := reflect.TypeAssert[*corev1.PodTemplateSpec](v); ok && template != nil {
				return template
			}
		}
	}
	return nil
}

// untypedTemplateOf returns the pod template of an unstructured object, or nil.
func untypedTemplateOf(obj *unstructured.Unstructured) map[string]any {
	for _, place := range places {
		value, _, _ := unstructured.NestedFieldNoCopy(obj.Object, place.json...)
		template, ok := value.(map[string]any)
		if spec, isPod := template["spec"].(map[string]any); ok && isPod && spec["containers"] != nil {
			return template
		}
	}
	return nil
}

// SetEnv sets an environment variable in all containers, but not in init containers. It replaces one of the same name.
// It returns false and changes nothing if the object has no pod template.
func SetEnv(obj client.Object, name, value string) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		template := untypedTemplateOf(u)
		if template == nil {
			return false
		}
		containers, _ := template["spec"].(map[string]any)["containers"].([]any)
		for _, c := range containers {
			if container, ok := c.(map[string]any); ok {
				container["env"] = withUntypedEnv(container["env"], name, value)
			}
		}
		return true
	}
	template := templateOf(obj)
	if template == nil {
		return false
	}
	for i := range template.Spec.Containers {
		container := &template.Spec.Containers[i]
		container.Env = withEnv(container.Env, corev1.EnvVar{Name: name, Value: value})
	}
	return true
}

func withEnv(env []corev1.EnvVar, set corev1.EnvVar) []corev1.EnvVar {
	for i := range env {
		if env[i].Name == set.Name {
			env[i] = set
			return env
		}
	}
	return append(env, set)
}

func withUntypedEnv(list any, name, value string) []any {
	env, _ := list.([]any)
	set := map[string]any{"name": name, "value": value}
	for i := range env {
		if v, ok := env[i].(map[string]any); ok && v["name"] == name {
			env[i] = set
			return env
		}
	}
	return append(env, set)
}
