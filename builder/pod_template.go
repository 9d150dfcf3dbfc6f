package builder

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// templatePlaces is where pod templates are, as Go and as JSON fields.
var templatePlaces = []struct{ fields, json []string }{
	{[]string{"Spec", "Template"}, []string{"spec", "template"}},
	{[]string{"Spec", "JobTemplate", "Spec", "Template"}, []string{"spec", "jobTemplate", "spec", "template"}},
	{[]string{"Template"}, []string{"template"}},
}

// podTemplate returns the pod template of a typed object, or nil.
func podTemplate(obj client.Object) *corev1.PodTemplateSpec {
	for _, place := range templatePlaces {
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
			if template, ok := v.Interface().(*corev1.PodTemplateSpec); ok && template != nil {
				return template
			}
		}
	}
	return nil
}

// looseTemplate returns the pod template of an unstructured object, or nil.
func looseTemplate(obj *unstructured.Unstructured) map[string]any {
	for _, place := range templatePlaces {
		value, _, _ := unstructured.NestedFieldNoCopy(obj.Object, place.json...)
		template, ok := value.(map[string]any)
		if spec, isPod := template["spec"].(map[string]any); ok && isPod && spec["containers"] != nil {
			return template
		}
	}
	return nil
}

// putEnv sets the variable in all containers. It reports false if there is no pod template.
func putEnv(obj client.Object, digest string) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		template := looseTemplate(u)
		if template == nil {
			return false
		}
		containers, _ := template["spec"].(map[string]any)["containers"].([]any)
		for _, c := range containers {
			if container, ok := c.(map[string]any); ok {
				container["env"] = withLooseEnv(container["env"], digest)
			}
		}
		return true
	}
	template := podTemplate(obj)
	if template == nil {
		return false
	}
	for i := range template.Spec.Containers {
		container := &template.Spec.Containers[i]
		container.Env = withEnv(container.Env, digest)
	}
	return true
}

func withEnv(env []corev1.EnvVar, digest string) []corev1.EnvVar {
	ours := corev1.EnvVar{Name: EnvConfigHash, Value: digest}
	for i := range env {
		if env[i].Name == ours.Name {
			env[i] = ours
			return env
		}
	}
	return append(env, ours)
}

func withLooseEnv(value any, digest string) []any {
	env, _ := value.([]any)
	ours := map[string]any{"name": EnvConfigHash, "value": digest}
	for i := range env {
		if v, ok := env[i].(map[string]any); ok && v["name"] == EnvConfigHash {
			env[i] = ours
			return env
		}
	}
	return append(env, ours)
}

// putTemplateAnnotation sets the annotation. It reports false if there is no pod template.
func putTemplateAnnotation(obj client.Object, digest string) bool {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		template := looseTemplate(u)
		return template != nil && unstructured.SetNestedField(template, digest, "metadata", "annotations", AnnotationConfigHash) == nil
	}
	template := podTemplate(obj)
	if template == nil {
		return false
	}
	template.Annotations = with(template.Annotations, AnnotationConfigHash, digest)
	return true
}
