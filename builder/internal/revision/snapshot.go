package revision

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Snapshot is the data of a revision: the phased children as they are sent.
type Snapshot struct {
	// Phases are in the order of the roll-out.
	Phases   []string `json:"phases"`
	Children []Child  `json:"children,omitempty"`
	// Compressed is the gzipped JSON of Children, if they are large.
	Compressed []byte `json:"compressed,omitempty"`
	// Omitted is true if the children were too large and are stored without payload.
	Omitted bool `json:"omitted,omitempty"`
	// Runs are the lines of RunOnce children, which are in the hash of a revision and are not restored.
	Runs []string `json:"runs,omitempty"`
}

// Child is a child of a revision.
type Child struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Phase     string `json:"phase"`
	Digest    string `json:"digest"`
	Untyped   bool   `json:"untyped,omitempty"`
	// Payload are the fields that are sent when the child is created. Secrets have none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Ignored are the paths of the fields that are left to others after the creation.
	Ignored []string `json:"ignored,omitempty"`
}

const (
	// plainSize is the maximum size of a snapshot that is stored as legible JSON, in bytes.
	plainSize = 16 << 10
	// maxSize limits the data of a revision, in bytes: an object has at most 1.5 MiB, and a ControllerRevision has other fields.
	maxSize = 960 << 10
	// maxUnpacked limits the size of decompressed data, in bytes.
	maxUnpacked = 64 << 20
	// maxChildren and maxPayload limit the decoded data, because an element of two bytes takes hundreds in memory. They are above the
	// limits of a revision and of an object.
	maxChildren = 50_000
	maxPayload  = 2 << 20
)

// GVK returns the kind of the child.
func (c *Child) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: c.Group, Version: c.Version, Kind: c.Kind}
}

// Key returns the key of the child.
func (c *Child) Key() store.Key { return store.KeyOf(c.GVK(), c.Namespace, c.Name) }

// IsSecret reports whether the child is stored without its payload.
func (c *Child) IsSecret() bool { return c.Key().GroupKind() == schema.GroupKind{Kind: "Secret"} }

// Line returns the child's line in the hash of its revision.
func (c *Child) Line() string {
	return fmt.Sprintf("%s %s %q %t %q", c.Key(), c.Version, c.Digest, c.Untyped, c.Ignored)
}

// RunLine returns a RunOnce child's line in the hash of its revision.
func RunLine(key store.Key, digest string) string { return "run " + key.String() + " " + digest }

// Hash identifies desired children by their lines, in any order and phases. It includes the identity of controller and owner, so that
// owners of one name, and two controllers of one owner, have different revisions. It is long enough to make it infeasible to find
// other data with the same hash.
func Hash(identity string, lines []string) string {
	lines = slices.Sorted(slices.Values(lines))
	sum := sha256.Sum256([]byte(identity + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16])
}

// Payload renders the fields of a child without the UID that an apply adds to them.
func Payload(fields map[string]any) (json.RawMessage, error) {
	if meta, ok := fields["metadata"].(map[string]any); ok && meta["uid"] != nil {
		meta = maps.Clone(meta)
		delete(meta, "uid")
		fields = maps.Clone(fields)
		fields["metadata"] = meta
	}
	return json.Marshal(fields)
}

// NewSnapshot returns the snapshot of children, and of the lines of RunOnce children.
func NewSnapshot(phases []string, children []Child, runs []string) Snapshot {
	s := Snapshot{Phases: phases, Children: slices.Clone(children), Runs: slices.Sorted(slices.Values(runs))}
	slices.SortFunc(s.Children, func(a, b Child) int { return store.Compare(a.Key(), b.Key()) })
	return s
}

// Find returns the child of a key, nil if there is none.
func (s *Snapshot) Find(key store.Key) *Child {
	for i := range s.Children {
		if s.Children[i].Key() == key {
			return &s.Children[i]
		}
	}
	return nil
}

// Render returns the data of a revision: legible JSON if it is small, otherwise compressed, and without payloads if the compressed
// data are too large. It returns an error if that is too large as well.
func (s Snapshot) Render() ([]byte, error) {
	plain, err := json.Marshal(s)
	if err != nil || len(plain) <= plainSize {
		return plain, err
	}
	packed, err := s.pack()
	if err != nil || len(packed) <= maxSize {
		return packed, err
	}
	s.Omitted, s.Children = true, slices.Clone(s.Children)
	for i := range s.Children {
		s.Children[i].Payload = nil
	}
	if packed, err = s.pack(); err == nil && len(packed) > maxSize {
		err = fmt.Errorf("the %d children in phases are too many to be kept as a revision", len(s.Children))
	}
	return packed, err
}

func (s Snapshot) pack() ([]byte, error) {
	children, err := json.Marshal(s.Children)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err = w.Write(children)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	s.Children, s.Compressed = nil, buf.Bytes()
	return json.Marshal(s)
}

// ReadSnapshot reads the data of a revision. Anyone who can create ControllerRevisions may have written them.
func ReadSnapshot(data []byte) (Snapshot, error) {
	var read struct {
		Snapshot
		Children json.RawMessage `json:"children"`
	}
	err := json.Unmarshal(data, &read)
	s := read.Snapshot
	switch {
	case err != nil:
		return s, err
	case s.Compressed == nil && read.Children == nil:
		return s, nil
	case s.Compressed == nil:
		s.Children, err = readChildren(bytes.NewReader(read.Children))
		return s, err
	}
	r, err := gzip.NewReader(bytes.NewReader(s.Compressed))
	if err != nil {
		return s, err
	}
	s.Children, err = readChildren(io.LimitReader(r, maxUnpacked))
	return s, err
}

// readChildren reads a list of children one by one, up to the limit. A list that the limit of r cuts off is an error, too.
func readChildren(r io.Reader) (children []Child, err error) {
	decoder := json.NewDecoder(r)
	start, err := decoder.Token()
	switch {
	case err != nil:
		return nil, err
	case start == nil:
		return nil, nil
	case start != json.Delim('['):
		return nil, fmt.Errorf("children begin with %v; want a list", start)
	}
	for decoder.More() {
		if len(children) == maxChildren {
			return nil, fmt.Errorf("more than %d children", maxChildren)
		}
		var c Child
		if err := decoder.Decode(&c); err != nil {
			return nil, err
		}
		if len(c.Payload) > maxPayload {
			return nil, fmt.Errorf("child %s has %d bytes, more than %d", c.Key(), len(c.Payload), maxPayload)
		}
		children = append(children, c)
	}
	_, err = decoder.Token() // the end of the list
	return children, err
}

// Restore sets an empty object of the child's kind to the fields with which the child was created, and returns them.
func (c *Child) Restore(into client.Object) (fields map[string]any, err error) {
	if err := apijson.Unmarshal(c.Payload, &fields); err != nil {
		return nil, err
	}
	content := unstructured.Unstructured{Object: fields}
	if gvk := content.GroupVersionKind(); gvk != c.GVK() || fields["metadata"] == nil {
		return nil, fmt.Errorf("it is of the kind %q, or has no metadata", gvk)
	}
	if u, ok := into.(*unstructured.Unstructured); ok {
		u.Object = runtime.DeepCopyJSON(fields)
		return fields, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, into); err != nil {
		return nil, err
	}
	into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // objects from a cache have none either
	return fields, nil
}

// Restorable returns the snapshot of a revision, or an empty one and the reason why it can't be restored.
func (r *Revision) Restorable(identity string) (s Snapshot, reason string) {
	s, err := ReadSnapshot(r.Object.Data.Raw)
	switch {
	case err == nil && s.Omitted:
		return Snapshot{}, "the last completed revision was too large to be kept"
	case err != nil || !s.matches(identity, hashIn(r.Name())):
		return Snapshot{}, "ControllerRevision " + r.Name() + " was changed: its data doesn't fit the hash in its name"
	}
	return s, ""
}

// matches reports whether a snapshot has a hash. The first values of ignored fields are not part of the hash.
func (s *Snapshot) matches(identity, hash string) bool {
	lines := slices.Clone(s.Runs)
	for i := range s.Children {
		c := &s.Children[i]
		if !c.isIntact() || !slices.Contains(s.Phases, c.Phase) {
			return false
		}
		lines = append(lines, c.Line())
	}
	return Hash(identity, lines) == hash
}

// isIntact reports whether the payload of a child has its digest.
func (c *Child) isIntact() bool {
	if c.Payload == nil {
		return c.IsSecret()
	}
	var fields map[string]any
	if apijson.Unmarshal(c.Payload, &fields) != nil {
		return false
	}
	for _, text := range c.Ignored {
		path, err := paths.Parse(text)
		if err != nil {
			return false
		}
		path.Remove(fields)
	}
	unstructured.RemoveNestedField(fields, "metadata", "annotations", wellknown.AnnotationDigest)
	if digest, err := payload.Digest(fields); err == nil && digest == c.Digest {
		return true
	}
	if annotations, _, err := unstructured.NestedMap(fields, "metadata", "annotations"); err != nil || len(annotations) > 0 {
		return false
	}
	unstructured.RemoveNestedField(fields, "metadata", "annotations") // they came with the digest
	digest, err := payload.Digest(fields)
	return err == nil && digest == c.Digest
}
