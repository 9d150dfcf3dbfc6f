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

	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
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
	// Runs are the lines of RunOnce children, which are in the hash of a revision and not among what it is returned to.
	Runs []string `json:"runs,omitempty"`
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

// revisionHash identifies the desired children of phases, whatever their order and phases, by a line of each. Whose
// it is goes in, so that owners of one name, and controllers of one owner, have different revisions. It is long enough
// that no one finds other data for it.
func revisionHash(whose string, lines []string) string {
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(whose + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16])
}

// line is what a child, which must be stamped, is in the hash of a revision.
func (d *desired) line() string {
	if d.child.run != nil {
		return "run " + d.key.String() + " " + d.digest
	}
	c := d.snapshot()
	return c.line()
}

// line is what a child of a revision is in the revision's hash.
func (c *snapshotChild) line() string {
	return fmt.Sprintf("%s %s %q %t %q", c.key(), c.Version, c.Digest, c.Untyped, c.Ignored)
}

// fits reports whether a snapshot is that of a hash, so that it is what the builder wrote. Only the first values of fields
// that are ignored may be others.
func (s *snapshot) fits(whose, hash string) bool {
	lines := slices.Clone(s.Runs)
	for i := range s.Children {
		c := &s.Children[i]
		if !c.isIntact() || !slices.Contains(s.Phases, c.Phase) {
			return false
		}
		lines = append(lines, c.line())
	}
	return revisionHash(whose, lines) == hash
}

// isIntact reports whether the payload of a child is that of its digest.
func (c *snapshotChild) isIntact() bool {
	if c.Payload == nil {
		return c.isSecret()
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
	unstructured.RemoveNestedField(fields, "metadata", "annotations", AnnotationDigest)
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

// snapshotOf renders what is wanted, which must be stamped.
func snapshotOf(phases []string, ds []*desired) ([]byte, error) {
	s := snapshot{Phases: phases}
	for _, d := range ds {
		if d.child.run != nil { // what has run isn't run again, nor undone
			s.Runs = append(s.Runs, d.line())
			continue
		}
		c := d.snapshot()
		if !c.isSecret() {
			var err error
			if c.Payload, err = sentBytes(d.sent()); err != nil {
				return nil, fmt.Errorf("%w: revision of %s: %w", ErrMisuse, d.key, err)
			}
		}
		s.Children = append(s.Children, c)
	}
	slices.Sort(s.Runs)
	slices.SortFunc(s.Children, func(a, b snapshotChild) int { return store.Compare(a.key(), b.key()) })
	return s.render()
}

// snapshot is what a revision has of a child, which must be stamped, but for its payload.
func (d *desired) snapshot() snapshotChild {
	c := snapshotChild{
		Group: d.kind.gvk.Group, Version: d.kind.gvk.Version, Kind: d.kind.gvk.Kind, Untyped: d.kind.untyped,
		Namespace: d.key.Namespace, Name: d.key.Name, Phase: d.child.phase, Digest: d.digest,
	}
	if d.first != nil {
		c.Ignored = d.child.how.Ignored
	}
	return c
}

// isSecret reports whether the payload is left out.
func (c *snapshotChild) isSecret() bool {
	return c.key().GroupKind() == schema.GroupKind{Kind: "Secret"}
}

// sent is what is sent when the child is created.
func (d *desired) sent() map[string]any {
	if d.first != nil {
		return d.first
	}
	return d.fields
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
