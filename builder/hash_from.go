package builder

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/mitchellh/hashstructure/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// Where HashFrom puts its digest.
const (
	// EnvConfigHash is an environment variable of every container.
	EnvConfigHash = "ARMATURE_CONFIG_HASH"
	// AnnotationConfigHash is an annotation of the pod template.
	AnnotationConfigHash = "armature.dev/config-hash"
)

// HashFrom rolls the pods of a child when what they are configured with changes: one digest of all that is given goes
// into its pod template, as the environment variable EnvConfigHash of every container (not of init containers; one that
// is wanted under that name is replaced). Without the option, pods see a changed ConfigMap late or never.
//
// Of a ConfigMap the data and binaryData count, of a Secret the data and stringData, and each one's kind and name; not
// their other metadata, owner or place. Of another Kubernetes object all but metadata and status counts, of any other
// value what github.com/mitchellh/hashstructure/v2 sees of it: exported fields that aren't zero, but for those tagged
// `hash:"ignore"`. Neither the order of the arguments nor that of maps matters, nor whether a ConfigMap's or Secret's
// data is nil or empty. What counts is the objects as they are given: give those that are wanted in the same pass, or
// those of a [View]. Nothing is read and nothing is changed.
//
// The child may be of any kind with a pod template, also unstructured, at spec.template (Deployment, StatefulSet,
// DaemonSet, ReplicaSet, Job, custom resources), spec.jobTemplate.spec.template (CronJob) or template (PodTemplate). A
// child without one is [ErrMisuse], as is a nil. The template of a Job can't be changed: see [OnImmutable].
func HashFrom(objs ...any) ConfigHash {
	var of []any
	for _, obj := range objs {
		of = append(of, behindPointer(obj))
	}
	return ConfigHash{of: of}
}

// ConfigHash is the option that HashFrom returns.
type ConfigHash struct {
	of           []any
	asAnnotation bool
}

var _ ChildOption = ConfigHash{}

// AsAnnotation puts the digest into the annotation AnnotationConfigHash of the pod template, and leaves the containers
// as they are.
func (h ConfigHash) AsAnnotation() ConfigHash {
	h.asAnnotation = true
	return h
}

func (h ConfigHash) applyToChild(c *Child) {
	how := c.change()
	if h.asAnnotation {
		how.AnnotationOf = append(how.AnnotationOf, h.of...)
	} else {
		how.EnvOf = append(how.EnvOf, h.of...)
	}
}

// behindPointer returns a value as something that has a fast hash: that takes pointers.
func behindPointer(value any) any {
	v := reflect.ValueOf(value)
	if !v.IsValid() || v.Kind() == reflect.Pointer {
		return value
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Interface()
}

// putHashes puts the digests of what the child is configured with into its pod template. obj is the child's copy.
func (d *desired) putHashes(p *pass, obj client.Object) error {
	if d.child.how == nil {
		return nil
	}
	for _, place := range []struct {
		of  []any
		put func(obj client.Object, digest string) bool
	}{
		{d.child.how.EnvOf, putEnv}, {d.child.how.AnnotationOf, putTemplateAnnotation},
	} {
		if len(place.of) == 0 {
			continue
		}
		digest, err := p.configDigest(place.of)
		if err != nil {
			return fmt.Errorf("%w: HashFrom of %s: %w", ErrMisuse, d.key, err)
		}
		if !place.put(obj, digest) {
			return fmt.Errorf("%w: HashFrom of %s: it has no pod template; want one at spec.template, spec.jobTemplate.spec.template or template", ErrMisuse, d.key)
		}
	}
	return nil
}

// configDigest is one digest of all that is given, in no order.
func (p *pass) configDigest(of []any) (string, error) {
	entries := map[string]bool{}
	for i, value := range of {
		entry, err := p.configEntry(value)
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

// configContent is what counts of an object. Its JSON has neither nil nor empty maps.
type configContent struct {
	Kind, Name string
	Data       map[string]string `json:",omitempty"`
	BinaryData map[string][]byte `json:",omitempty"`
	Hash       uint64            `json:",omitempty"`
}

// configEntry says in one text all that counts of a value.
func (p *pass) configEntry(value any) (string, error) {
	content, err := p.contentOf(value)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(content)
	return string(text), err
}

func (p *pass) contentOf(value any) (configContent, error) {
	v := reflect.ValueOf(value)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return configContent{}, fmt.Errorf("is nil")
	}
	obj, ok := value.(client.Object)
	if !ok {
		hash, err := hashValue(value)
		return configContent{Hash: hash}, err
	}
	k, err := p.engine.kinds.of(obj)
	if err != nil {
		return configContent{}, err
	}
	content := configContent{Kind: k.gvk.GroupKind().String(), Name: obj.GetName()}
	if u, ok := obj.(runtime.Unstructured); ok && k.gvk.Group == "" && (k.gvk.Kind == "ConfigMap" || k.gvk.Kind == "Secret") {
		if obj, err = p.engine.kinds.typed(k, u); err != nil {
			return content, err
		}
	}
	switch o := obj.(type) {
	case *corev1.ConfigMap:
		content.Data, content.BinaryData = o.Data, o.BinaryData
	case *corev1.Secret:
		content.BinaryData = o.Data
		if len(o.StringData) > 0 {
			merged := make(map[string][]byte, len(o.Data)+len(o.StringData))
			maps.Copy(merged, o.Data)
			for key, text := range o.StringData {
				merged[key] = []byte(text)
			}
			content.BinaryData = merged
		}
	default:
		fields, err := payload.Of(obj, k.gvk)
		if err != nil {
			return content, err
		}
		delete(fields, "metadata")
		delete(fields, "apiVersion") // the same in another version
		content.Hash, err = hashValue(fields)
		if err != nil {
			return content, err
		}
	}
	for key, value := range content.BinaryData {
		if value == nil { // null in JSON, and to the API server the same as empty
			content.BinaryData = maps.Clone(content.BinaryData)
			content.BinaryData[key] = []byte{}
		}
	}
	return content, nil
}

// hashValue hashes a Go value. A field of a struct that is zero doesn't count: a new one shall not roll everything.
func hashValue(value any) (uint64, error) {
	return hashstructure.Hash(value, hashstructure.FormatV2, &hashstructure.HashOptions{IgnoreZeroValue: true})
}
