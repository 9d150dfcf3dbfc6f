package utils

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConfigMapHash is a ConfigMap, or a Secret, to hash.
type ConfigMapHash struct {
	Object client.Object
}

// HashHolder is the digest of the content of the objects of one name. As an environment variable of a pod, it rolls the pod when they
// change.
type HashHolder struct {
	// Name is the objects' name.
	Name string
	// HashVaule is the digest, 64 hexadecimal digits.
	HashVaule string
}

// MakeConfigMapHash returns the digests of objects, one for each name, in the order of the first objects. The digest covers data and
// binaryData, of a Secret also stringData, and not labels, owners and fields that the API server sets. Several objects of one name (a
// ConfigMap given twice, or a Secret beside it) have one digest, because an environment variable has one value.
func MakeConfigMapHash(configHash []ConfigMapHash) ([]HashHolder, error) {
	var holders []HashHolder
	place := map[string]int{}     // of a name in holders
	seen := map[HashHolder]bool{} // the objects in the holders
	for i, c := range configHash {
		if isNil(c.Object) {
			return nil, fmt.Errorf("ConfigMapHash[%d].Object is nil", i)
		}
		digest, err := contentDigest(c.Object)
		if err != nil {
			return nil, fmt.Errorf("digest of %s: %w", c.Object.GetName(), err)
		}
		one := HashHolder{Name: c.Object.GetName(), HashVaule: digest}
		at, known := place[one.Name]
		switch {
		case seen[one]:
		case known:
			holders[at].HashVaule = digestOf([]byte(holders[at].HashVaule + digest))
		default:
			place[one.Name] = len(holders)
			holders = append(holders, one)
		}
		seen[one] = true
	}
	return holders, nil
}

// AddHashToObject sets the annotation called name to a digest of the object, without its status, its owners, the fields that the API
// server sets, and that annotation. Other objects may share the annotations, so it doesn't change their map, and sets a new map on the
// object.
func AddHashToObject(obj client.Object, name string) error {
	if isNil(obj) {
		return fmt.Errorf("add hash %s: the object is nil", name)
	}
	content, err := contentOf(obj)
	if err != nil {
		return fmt.Errorf("digest of %s: %w", obj.GetName(), err)
	}
	annotations := maps.Clone(obj.GetAnnotations())
	delete(annotations, name)
	content["metadata"] = map[string]any{
		"namespace": obj.GetNamespace(), "name": obj.GetName(),
		"labels": nonNil(obj.GetLabels()), "annotations": nonNil(annotations), "finalizers": obj.GetFinalizers(),
	}
	encoded, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("digest of %s: %w", obj.GetName(), err)
	}
	annotations = nonNil(annotations)
	annotations[name] = digestOf(encoded)
	obj.SetAnnotations(annotations)
	return nil
}

// contentDigest returns the digest of the content of a ConfigMap or Secret, and of another kind of all but metadata and status.
func contentDigest(obj client.Object) (string, error) {
	content, err := contentOf(obj)
	if err != nil {
		return "", err
	}
	if kind := kindOf(obj); kind == "ConfigMap" || kind == "Secret" {
		content = map[string]any{"data": content["data"], "binaryData": content["binaryData"]}
	}
	for key, value := range content { // none and empty are equal
		if m, ok := value.(map[string]any); value == nil || (ok && len(m) == 0) {
			delete(content, key)
		}
	}
	encoded, err := json.Marshal(content)
	return digestOf(encoded), err
}

// contentOf returns an object's top-level fields without metadata, status and type, in a new map.
func contentOf(obj client.Object) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	content = maps.Clone(content)
	for _, field := range []string{"metadata", "status", "apiVersion", "kind"} {
		delete(content, field)
	}
	stringData, ok := content["stringData"].(map[string]any)
	if ok && kindOf(obj) == "Secret" {
		delete(content, "stringData")
		data, _ := content["data"].(map[string]any)
		data = maps.Clone(data)
		if data == nil {
			data = map[string]any{}
		}
		for k, v := range stringData {
			data[k] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(v)))
		}
		content["data"] = data
	}
	return content, nil
}

func digestOf(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
