package confighash

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mitchellh/hashstructure/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/payload"
)

// Of returns one digest of all values. gvkOf returns the kind of an object.
func Of(values []any, gvkOf func(client.Object) (schema.GroupVersionKind, error)) (string, error) {
	entries := map[string]bool{}
	for i, value := range values {
		entry, err := entryOf(value, gvkOf)
		if err != nil {
			return "", fmt.Errorf("argument %d, a %T: %w", i+1, value, err)
		}
		entries[entry] = true
	}
	all, err := json.Marshal(slices.Sorted(maps.Keys(entries)))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:16]), nil
}

// content is the hashed part of an object. Its JSON has neither nil nor empty maps.
type content struct {
	Kind, Name string
	Data       map[string]string `json:",omitempty"`
	BinaryData map[string][]byte `json:",omitempty"`
	Hash       uint64            `json:",omitempty"`
}

// entryOf renders the hashed part of a value as one text.
func entryOf(value any, gvkOf func(client.Object) (schema.GroupVersionKind, error)) (string, error) {
	c, err := contentOf(value, gvkOf)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(c)
	return string(text), err
}

func contentOf(value any, gvkOf func(client.Object) (schema.GroupVersionKind, error)) (content, error) {
	if kinds.IsNil(value) {
		return content{}, fmt.Errorf("is nil")
	}
	obj, ok := value.(client.Object)
	if !ok {
		hash, err := hashValue(value)
		return content{Hash: hash}, err
	}
	gvk, err := gvkOf(obj)
	if err != nil {
		return content{}, err
	}
	c := content{Kind: gvk.GroupKind().String(), Name: obj.GetName()}
	if u, ok := obj.(runtime.Unstructured); ok {
		if obj, err = typed(obj, gvk.GroupKind(), u); err != nil {
			return c, err
		}
	}
	switch o := obj.(type) {
	case *corev1.ConfigMap:
		c.Data, c.BinaryData = o.Data, o.BinaryData
	case *corev1.Secret:
		c.BinaryData = o.Data
		if len(o.StringData) > 0 {
			merged := make(map[string][]byte, len(o.Data)+len(o.StringData))
			maps.Copy(merged, o.Data)
			for key, text := range o.StringData {
				merged[key] = []byte(text)
			}
			c.BinaryData = merged
		}
	default:
		fields, err := payload.Of(obj, gvk)
		if err != nil {
			return c, err
		}
		delete(fields, "metadata")
		delete(fields, "apiVersion") // versions of a kind are equal
		c.Hash, err = hashValue(fields)
		if err != nil {
			return c, err
		}
	}
	for key, value := range c.BinaryData {
		if value == nil { // null in JSON; the API server treats it as empty
			c.BinaryData = maps.Clone(c.BinaryData)
			c.BinaryData[key] = []byte{}
		}
	}
	return c, nil
}

// typed returns an unstructured ConfigMap or Secret as one of its Go type, and any other object unchanged.
func typed(obj client.Object, kind schema.GroupKind, u runtime.Unstructured) (client.Object, error) {
	switch kind {
	case schema.GroupKind{Kind: "ConfigMap"}:
		obj = &corev1.ConfigMap{}
	case schema.GroupKind{Kind: "Secret"}:
		obj = &corev1.Secret{}
	default:
		return obj, nil
	}
	return obj, runtime.DefaultUnstructuredConverter.FromUnstructured(u.UnstructuredContent(), obj)
}

// hashValue hashes a Go value. It ignores zero fields of a struct, so that a new field rolls nothing.
func hashValue(value any) (uint64, error) {
	return hashstructure.Hash(value, hashstructure.FormatV2, &hashstructure.HashOptions{IgnoreZeroValue: true})
}
