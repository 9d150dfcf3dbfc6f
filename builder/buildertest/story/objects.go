package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	sigsyaml "sigs.k8s.io/yaml"
)

// apply is the command apply: it applies the YAML documents below it, with their status.
func apply(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, 0); err != nil {
		return "", err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(l.Input), len(l.Input)+1)
	for {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			return "", nil
		} else if err != nil {
			return "", fmt.Errorf("apply: %w", err)
		}
		if len(u.Object) == 0 {
			continue
		}
		if err := s.applyOne(ctx, u); err != nil {
			return "", err
		}
	}
}

func (s *Story) applyOne(ctx context.Context, u *unstructured.Unstructured) error {
	namespaced, err := s.user.IsObjectNamespaced(u)
	if err != nil {
		return err
	}
	if namespaced && u.GetNamespace() == "" {
		u.SetNamespace(Namespace)
	}
	status, hasStatus := u.Object["status"]
	delete(u.Object, "status")
	if err := s.user.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.ForceOwnership, client.FieldOwner(user)); err != nil {
		return err
	}
	if !hasStatus {
		return nil
	}
	u.Object["status"] = status
	return s.user.Status().Update(ctx, u)
}

// fromTemplate returns the command that applies a template: its input is merged into the spec, name= is the object's name.
func fromTemplate(text string) Command {
	return func(ctx context.Context, s *Story, l Line) (string, error) {
		if err := only(l, 0, "name", "namespace"); err != nil {
			return "", err
		}
		object, err := sigsyaml.YAMLToJSON([]byte(text))
		if err != nil {
			return "", fmt.Errorf("template %s: %w", l.Command, err)
		}
		spec, err := sigsyaml.YAMLToJSON([]byte(cmp.Or(l.Input, "{}")))
		if err != nil {
			return "", fmt.Errorf("%s: %w", l.Command, err)
		}
		if object, err = jsonpatch.MergePatch(object, fmt.Appendf(nil, `{"spec":%s}`, spec)); err != nil {
			return "", fmt.Errorf("%s: %w", l.Command, err)
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(object); err != nil {
			return "", fmt.Errorf("%s: %w", l.Command, err)
		}
		for key, set := range map[string]func(string){"name": u.SetName, "namespace": u.SetNamespace} {
			if text, ok, err := value(l, key); err != nil {
				return "", err
			} else if ok {
				set(text)
			}
		}
		return "", s.applyOne(ctx, u)
	}
}

// edit is the commands edit and edit-status: they merge the YAML below into objects or their status.
func edit(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	if len(l.Words) == 0 {
		return "", fmt.Errorf("%s: the object is missing; Kind/name is accepted", l.Command)
	}
	text, err := sigsyaml.YAMLToJSON([]byte(l.Input))
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.Command, err)
	}
	patch := client.RawPatch(types.MergePatchType, text)
	for _, word := range l.Words {
		obj, err := s.get(ctx, word)
		if err != nil {
			return "", err
		}
		if l.Command == "edit" {
			err = s.user.Patch(ctx, obj, patch)
		} else {
			err = s.user.Status().Patch(ctx, obj, patch)
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}

// remove is the command delete: "delete Job/demo policy=Foreground grace=0".
func remove(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1, "policy", "grace"); err != nil {
		return "", err
	}
	options := &client.DeleteOptions{}
	policy, ok, err := value(l, "policy")
	if err != nil {
		return "", err
	}
	if !ok {
		policy = string(metav1.DeletePropagationBackground)
	}
	options.PropagationPolicy = new(metav1.DeletionPropagation(policy))
	if _, ok := l.Options["grace"]; ok {
		grace, err := number(l, "grace", 0)
		if err != nil {
			return "", err
		}
		options.GracePeriodSeconds = &grace
	}
	for _, word := range l.Words {
		obj, err := s.get(ctx, word)
		if err != nil {
			return "", err
		}
		if err := s.user.Delete(ctx, obj, options); err != nil {
			return "", err
		}
	}
	return "", nil
}

// replace is the command replace: it deletes an object and creates one with its name, labels and spec, and nothing happens in between.
func replace(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, 1); err != nil {
		return "", err
	}
	obj, err := s.get(ctx, l.Words[0])
	if err != nil {
		return "", err
	}
	again := &unstructured.Unstructured{Object: map[string]any{"spec": obj.Object["spec"]}}
	again.SetGroupVersionKind(obj.GroupVersionKind())
	again.SetNamespace(obj.GetNamespace())
	again.SetName(obj.GetName())
	again.SetLabels(obj.GetLabels())
	if err := s.user.Delete(ctx, obj); err != nil {
		return "", err
	}
	return "", s.user.Create(ctx, again)
}

// get reads an object, named Kind/name or Kind/namespace/name.
func (s *Story) get(ctx context.Context, text string) (*unstructured.Unstructured, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return nil, fmt.Errorf("%q names no object; Kind/name or Kind/namespace/name is accepted", text)
	}
	gvk, err := s.kind(parts[0])
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	key := client.ObjectKey{Namespace: Namespace, Name: parts[len(parts)-1]}
	if len(parts) == 3 {
		key.Namespace = parts[1]
	}
	if namespaced, err := s.user.IsObjectNamespaced(u); err != nil {
		return nil, err
	} else if !namespaced {
		key.Namespace = ""
	}
	return u, s.user.Get(ctx, key, u)
}

// unserved is a group whose kinds client-go still has. API servers have served none of them since Kubernetes 1.22.
const unserved = "extensions"

// kind finds a kind by its name, such as Job, and its group or version and group, such as Job.batch or Job.v1.batch. Of a group's versions
// it returns the first one. A name without a group is an error if several groups have it.
func (s *Story) kind(name string) (schema.GroupVersionKind, error) {
	short, group, qualified := strings.Cut(name, ".")
	var found []schema.GroupVersionKind // one for each group
	for _, gv := range s.config.Scheme.PrioritizedVersionsAllGroups() {
		isNamed := !qualified && gv.Group != unserved || qualified && (group == gv.Group || group == versionAndGroup(gv))
		isFurther := len(found) > 0 && found[len(found)-1].Group == gv.Group
		if gvk := gv.WithKind(short); isNamed && !isFurther && s.config.Scheme.Recognizes(gvk) {
			found = append(found, gvk)
		}
	}
	switch len(found) {
	case 0:
		return schema.GroupVersionKind{}, fmt.Errorf("%q is no kind of the scheme", name)
	case 1:
		return found[0], nil
	}
	var accepted []string
	for _, gvk := range found {
		accepted = append(accepted, short+"."+cmp.Or(gvk.Group, gvk.Version))
	}
	return schema.GroupVersionKind{}, fmt.Errorf("%q is a kind of %d groups; accepted are %s", name, len(found), strings.Join(accepted, ", "))
}

// versionAndGroup returns a version and its group as they follow a kind: v1.batch, or v1 for the core group.
func versionAndGroup(gv schema.GroupVersion) string {
	return strings.TrimSuffix(gv.Version+"."+gv.Group, ".")
}
