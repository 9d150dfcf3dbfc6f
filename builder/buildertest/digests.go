package buildertest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/search"
)

// digests are the digests of stored objects, by which states are compared. Those that were made are remembered.
type digests map[digestKey]search.Hash

// digestKey is an object at a time.
type digestKey struct {
	object client.Object
	now    time.Time
}

// all returns a digest of all objects, each kind at a version, and of the names of deleted namespaces, because those refuse objects.
func (d digests) all(snap *snapshot, version func(schema.GroupVersionKind) uint64) search.Hash {
	var sum search.Hash
	for gvk, rows := range snap.tables {
		at := version(gvk)
		for key, h := range rows {
			var one search.Hash
			switch obj := h.at(at); {
			case obj != nil:
				one = d.of(obj, snap.now)
			case gvk == namespaceKind.gvk && h[0].version <= at:
				one = digest([]byte("deleted namespace " + key.Name))
			}
			sum[0], sum[1] = sum[0]+one[0], sum[1]+one[1] // in any order
		}
	}
	return sum
}

// of returns a digest of an object without its resource version and refusals of pods, and with times relative to now.
func (d digests) of(obj client.Object, now time.Time) search.Hash {
	key := digestKey{obj, now}
	if known, ok := d[key]; ok {
		return known
	}
	bare := copyOf(obj)
	bare.SetResourceVersion("")
	fields := bare.GetManagedFields()
	for i := range fields {
		fields[i].Time = nil
	}
	slices.SortStableFunc(fields, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Subresource, b.Subresource))
	})
	bare.SetManagedFields(fields)
	text, err := json.Marshal(bare)
	if err != nil {
		panic(fmt.Sprintf("buildertest: encode a stored %T: %v", obj, err)) // it was decoded from JSON
	}
	text = timestamp.ReplaceAllFunc(text, func(match []byte) []byte {
		t, err := time.Parse(time.RFC3339, string(match))
		if err != nil {
			return match
		}
		return []byte(t.Sub(now).String())
	})
	sum := digest(refusal.ReplaceAll(text, nil))
	d[key] = sum
	return sum
}

func digest(text []byte) search.Hash {
	sum := sha256.Sum256(text)
	return search.Hash{binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])}
}
