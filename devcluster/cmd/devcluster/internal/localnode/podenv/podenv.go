package podenv

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// Objects reads the API objects an environment refers to.
type Objects interface {
	ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error)
}

// Source is what an environment is computed from.
type Source struct {
	Objects Objects
	// Pod has its status set as far as fieldRefs need it.
	Pod *corev1.Pod
	// Allocatable stands for limits that a container does not set.
	Allocatable corev1.ResourceList
}

// Var is one variable.
type Var struct{ Name, Value string }

// Resolve returns the container's variables in the order of their declaration,
// those of envFrom first. base is what references may use besides them.
func Resolve(ctx context.Context, src Source, container *corev1.Container, base map[string]string) ([]Var, error) {
	r := &resolver{Source: src, values: map[string]string{}}
	for _, from := range container.EnvFrom {
		if err := r.envFrom(ctx, from); err != nil {
			return nil, err
		}
	}
	mapping := expansion.MappingFuncFor(r.values, base)
	for _, v := range container.Env {
		value := v.Value
		if value != "" {
			value = expansion.Expand(value, mapping)
		} else if v.ValueFrom != nil {
			var found bool
			var err error
			if value, found, err = r.valueFrom(ctx, v.ValueFrom, container); err != nil {
				return nil, err
			}
			if !found {
				continue
			}
		}
		r.set(v.Name, value)
	}

	vars := make([]Var, 0, len(r.order))
	for _, name := range r.order {
		vars = append(vars, Var{Name: name, Value: r.values[name]})
	}
	return vars, nil
}

// Expand replaces the $(VAR) references in a command or its arguments.
func Expand(words []string, vars []Var, base map[string]string) []string {
	values := make(map[string]string, len(vars))
	for _, v := range vars {
		values[v.Name] = v.Value
	}
	mapping := expansion.MappingFuncFor(values, base)
	expanded := make([]string, 0, len(words))
	for _, word := range words {
		expanded = append(expanded, expansion.Expand(word, mapping))
	}
	return expanded
}

// ExpandStrict is Expand for a single text in which every reference must be known.
func ExpandStrict(text string, vars []Var, base map[string]string) (string, error) {
	known := map[string]string{}
	for _, v := range vars {
		known[v.Name] = v.Value
	}
	var missing []string
	expanded := expansion.Expand(text, func(name string) string {
		if value, ok := known[name]; ok {
			return value
		}
		if value, ok := base[name]; ok {
			return value
		}
		missing = append(missing, name)
		return ""
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("%q refers to variables that are not set: %v", text, missing)
	}
	return expanded, nil
}

type resolver struct {
	Source
	values map[string]string
	order  []string
}

func (r *resolver) set(name, value string) {
	if _, known := r.values[name]; !known {
		r.order = append(r.order, name)
	}
	r.values[name] = value
}

func (r *resolver) envFrom(ctx context.Context, from corev1.EnvFromSource) error {
	switch {
	case from.ConfigMapRef != nil:
		cm, err := r.Objects.ConfigMap(ctx, r.Pod.Namespace, from.ConfigMapRef.Name)
		if err != nil {
			return ignoreOptional(err, from.ConfigMapRef.Optional)
		}
		for _, key := range sortedKeys(cm.Data) {
			r.set(from.Prefix+key, cm.Data[key])
		}
	case from.SecretRef != nil:
		secret, err := r.Objects.Secret(ctx, r.Pod.Namespace, from.SecretRef.Name)
		if err != nil {
			return ignoreOptional(err, from.SecretRef.Optional)
		}
		for _, key := range sortedKeys(secret.Data) {
			r.set(from.Prefix+key, string(secret.Data[key]))
		}
	}
	return nil
}

// valueFrom returns found false for an optional source that is absent: the
// variable is then not set at all.
func (r *resolver) valueFrom(ctx context.Context, from *corev1.EnvVarSource, c *corev1.Container) (value string, found bool, err error) {
	switch {
	case from.FieldRef != nil:
		value, err = Field(r.Pod, from.FieldRef)
		return value, err == nil, err
	case from.ResourceFieldRef != nil:
		value, err = Resource(r.Pod, from.ResourceFieldRef, c.Name, r.Allocatable)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		cm, err := r.Objects.ConfigMap(ctx, r.Pod.Namespace, ref.Name)
		if err != nil {
			return "", false, ignoreOptional(err, ref.Optional)
		}
		value, ok := cm.Data[ref.Key]
		return value, ok, missingKey("ConfigMap", r.Pod.Namespace, ref.Name, ref.Key, ok, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		secret, err := r.Objects.Secret(ctx, r.Pod.Namespace, ref.Name)
		if err != nil {
			return "", false, ignoreOptional(err, ref.Optional)
		}
		data, ok := secret.Data[ref.Key]
		return string(data), ok, missingKey("Secret", r.Pod.Namespace, ref.Name, ref.Key, ok, ref.Optional)
	}
	return "", false, fmt.Errorf("container %q: an env valueFrom has none of the supported sources "+
		"configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef", c.Name)
}

func ignoreOptional(err error, optional *bool) error {
	if optional != nil && *optional && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func missingKey(kind, namespace, name, key string, found bool, optional *bool) error {
	if found || (optional != nil && *optional) {
		return nil
	}
	return fmt.Errorf("couldn't find key %s in %s %s/%s", key, kind, namespace, name)
}
