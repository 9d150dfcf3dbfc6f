package builder

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/store"
)

// snapshot is the data of a revision: the phased children as they are sent.
type snapshot struct {
	// Phases are in the order of the roll-out.
	Phases   []string        `json:"phases"`
	Children []snapshotChild `json:"children,omitempty"`
	// Compressed is the gzipped JSON of Children, if they are large.
	Compressed []byte `json:"compressed,omitempty"`
	// Omitted is true if the children were too large and are there without payload.
	Omitted bool `json:"omitted,omitempty"`
}

type snapshotChild struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Phase     string `json:"phase"`
	Digest    string `json:"digest"`
	Untyped   bool   `json:"untyped,omitempty"`
	// Payload is what is sent, when it is created. It is left out of Secrets.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Ignored are the paths of what of it is left to others from then on.
	Ignored []string `json:"ignored,omitempty"`
}

func (c *snapshotChild) kind() kind {
	return kind{gvk: schema.GroupVersionKind{Group: c.Group, Version: c.Version, Kind: c.Kind}, untyped: c.Untyped}
}

func (c *snapshotChild) key() store.Key { return store.KeyOf(c.kind().gvk, c.Namespace, c.Name) }

const (
	// plainSnapshot is up to where a snapshot can be read by people, in bytes.
	plainSnapshot = 16 << 10
	// maxSnapshot bounds the data of a revision, in bytes: an object has at most 1.5 MiB, and this one says more.
	maxSnapshot = 960 << 10
	// maxUnpacked bounds what compressed data may become, in bytes.
	maxUnpacked = 64 << 20
)

// revisionHash identifies what is wanted of the phased children, whatever their order and phases. Whose it is goes in,
// so that owners of one name, and controllers of one owner, have different revisions.
func revisionHash(whose string, ds []*desired) string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.key.String() + " " + d.digest
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(whose + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:6])
}

// snapshotOf renders what is wanted, which must be stamped.
func snapshotOf(phases []string, ds []*desired) ([]byte, error) {
	s := snapshot{Phases: phases}
	for _, d := range ds {
		if d.child.run != nil {
			continue // what has run isn't run again, nor undone
		}
		c := snapshotChild{
			Group: d.kind.gvk.Group, Version: d.kind.gvk.Version, Kind: d.kind.gvk.Kind, Untyped: d.kind.untyped,
			Namespace: d.key.Namespace, Name: d.key.Name, Phase: d.child.phase, Digest: d.digest,
		}
		if d.key.GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
			sent := d.fields
			if d.first != nil {
				sent, c.Ignored = d.first, d.child.how.Ignored
			}
			var err error
			if c.Payload, err = sentBytes(sent); err != nil {
				return nil, fmt.Errorf("%w: revision of %s: %w", ErrMisuse, d.key, err)
			}
		}
		s.Children = append(s.Children, c)
	}
	slices.SortFunc(s.Children, func(a, b snapshotChild) int { return store.Compare(a.key(), b.key()) })
	return s.render()
}

// sentBytes renders fields without the UID that an apply adds to them.
func sentBytes(fields map[string]any) ([]byte, error) {
	if meta, ok := fields["metadata"].(map[string]any); ok {
		delete(meta, "uid")
	}
	return json.Marshal(fields)
}

func (s snapshot) render() ([]byte, error) {
	plain, err := json.Marshal(s)
	if err != nil || len(plain) <= plainSnapshot {
		return plain, err
	}
	packed, err := s.pack()
	if err != nil || len(packed) <= maxSnapshot {
		return packed, err
	}
	s.Omitted = true
	for i := range s.Children {
		s.Children[i].Payload = nil
	}
	if packed, err = s.pack(); err == nil && len(packed) > maxSnapshot {
		err = fmt.Errorf("%w: the %d children in phases are too many to be kept as a revision", ErrMisuse, len(s.Children))
	}
	return packed, err
}

func (s snapshot) pack() ([]byte, error) {
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

// readSnapshot reads the data of a revision.
func readSnapshot(data []byte) (snapshot, error) {
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return s, err
	}
	if s.Compressed == nil {
		return s, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(s.Compressed))
	if err != nil {
		return s, err
	}
	children, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err == nil && len(children) > maxUnpacked {
		err = fmt.Errorf("more than %d bytes unpacked", maxUnpacked)
	}
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(children, &s.Children)
}

// restore makes of a child of a revision what will be compared and sent, kept as the child that is wanted now.
func (p *pass) restore(c *snapshotChild, like Child) (*desired, error) {
	if len(c.Ignored) > 0 {
		like = like.With(Ignore(c.Ignored...))
	}
	d := &desired{kind: c.kind(), key: c.key(), digest: c.Digest, child: like}
	d.child.phase = c.Phase
	if err := apijson.Unmarshal(c.Payload, &d.fields); err != nil {
		return nil, fmt.Errorf("revision of %s: %w", d.key, err)
	}
	var err error
	if d.object, err = p.engine.kinds.empty(d.kind); err != nil {
		return nil, err
	}
	if u, ok := d.object.(*unstructured.Unstructured); ok {
		u.Object = runtime.DeepCopyJSON(d.fields)
	} else if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.fields, d.object); err != nil {
		return nil, fmt.Errorf("revision of %s: %w", d.key, err)
	} else {
		d.object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // objects from a cache have none either
	}
	d.child.object = d.object
	if err := d.leaveOut(d.fields); err != nil {
		return nil, err
	}
	if d.compared, err = d.toCompare(); err != nil {
		return nil, err
	}
	return d, p.checkRestored(d)
}

// checkRestored makes sure that what a revision says is about a child of this owner: revisions can be edited.
func (p *pass) checkRestored(d *desired) error {
	gvk, err := gvkOfFields(d.fields)
	if err != nil || gvk != d.kind.gvk {
		return fmt.Errorf("revision of %s: it is of the kind %s", d.key, gvk)
	}
	_, key, err := p.keyOf(d.child)
	if err != nil {
		return err
	}
	if key != d.key || ownershipOf(d.object, p.owner, p.ownerKind) != ours || d.fields["metadata"] == nil {
		return fmt.Errorf("revision of %s: it is of %s, or of another owner", d.key, key)
	}
	return nil
}

func gvkOfFields(fields map[string]any) (schema.GroupVersionKind, error) {
	apiVersion, _ := fields["apiVersion"].(string)
	name, _ := fields["kind"].(string)
	gv, err := schema.ParseGroupVersion(apiVersion)
	return gv.WithKind(name), err
}

// digestOf returns what was last applied to an object, empty if it doesn't say.
func digestOf(obj client.Object) string {
	if obj == nil || obj.GetAnnotations()[AnnotationDigest] == notApplied {
		return ""
	}
	return obj.GetAnnotations()[AnnotationDigest]
}
