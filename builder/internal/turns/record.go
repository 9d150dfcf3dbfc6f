package turns

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/wellknown"
)

// State is the state of a roll-out.
type State string

const (
	// Progressing lets owners have their turns.
	Progressing State = "Progressing"
	// Aborted grants no further turn.
	Aborted State = "Aborted"
	// Complete holds nothing: all owners are as the build wants them.
	Complete State = "Complete"
)

// Record is what is stored of the last roll-out of an operator, in a ConfigMap.
type Record struct {
	// ID names the roll-out: the beginning of the build's digest, and when the roll-out began.
	ID string
	// Build is the digest of the program's build.
	Build string
	// State is the roll-out's state.
	State State
	// Owner is the kind of the owners.
	Owner schema.GroupVersionKind
	// Limit is the number of owners in their turn at once, as the program is configured.
	Limit string
	// Passed are the owners, "namespace/name", for which a user has decided to wait no longer.
	Passed []string
}

// The keys of the ConfigMap.
const (
	keyID, keyBuild, keyState, keyLimit, keyPassed = "id", "build", "state", "maxOwners", "passed"
	keyVersion, keyKind                            = "ownerVersion", "ownerKind"
)

// newID returns the ID of a roll-out that begins.
func newID(build string, now time.Time) string {
	return build[:min(8, len(build))] + "-" + now.UTC().Format("20060102T150405Z")
}

// Write sets the record in its ConfigMap.
func (r Record) Write(into *corev1.ConfigMap) {
	apiVersion, kind := r.Owner.ToAPIVersionAndKind()
	into.Data = map[string]string{
		keyID: r.ID, keyBuild: r.Build, keyState: string(r.State), keyLimit: r.Limit, keyVersion: apiVersion, keyKind: kind,
	}
	if len(r.Passed) > 0 {
		into.Data[keyPassed] = strings.Join(r.Passed, "\n")
	}
}

// ReadRecord returns the record of a ConfigMap.
func ReadRecord(from *corev1.ConfigMap) (Record, error) {
	d := from.Data
	r := Record{
		ID: d[keyID], Build: d[keyBuild], State: State(d[keyState]), Limit: d[keyLimit],
		Owner: schema.FromAPIVersionAndKind(d[keyVersion], d[keyKind]), Passed: strings.Fields(d[keyPassed]),
	}
	switch r.State {
	case Progressing, Aborted, Complete:
		return r, nil
	default:
		return r, fmt.Errorf("data.%s of ConfigMap %s/%s is %q; accepted are %s, %s and %s; to begin the roll-out again, delete the ConfigMap",
			keyState, from.Namespace, from.Name, r.State, Progressing, Aborted, Complete)
	}
}

// recordKey returns the name of the ConfigMap with the operator's record.
func (t *Turns) recordKey() types.NamespacedName {
	return types.NamespacedName{Namespace: t.Namespace, Name: t.Prefix + "-" + t.operator.Name}
}

// readRecord returns the record, and the ConfigMap that has it. Both are nil if there is none.
func (t *Turns) readRecord(ctx context.Context) (*Record, *corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	if err := t.operator.Live.Get(ctx, t.recordKey(), found); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil, nil
		}
		return nil, nil, fmt.Errorf("read the record of the roll-out: %w", err)
	}
	r, err := ReadRecord(found)
	return &r, found, err
}

// writeRecord stores the record in the ConfigMap as it was read; nil if there was none. Another writer's change is a conflict.
func (t *Turns) writeRecord(ctx context.Context, r Record, found *corev1.ConfigMap) error {
	var err error
	if found == nil {
		key := t.recordKey()
		found = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			Labels: map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy, wellknown.LabelReleases: t.operator.Name},
		}}
		r.Write(found)
		err = t.operator.Client.Create(ctx, found, client.DisableReadYourWritesConsistency)
	} else {
		found = found.DeepCopy()
		r.Write(found)
		err = t.operator.Client.Update(ctx, found, client.DisableReadYourWritesConsistency)
	}
	if err != nil {
		return fmt.Errorf("write the record of the roll-out: %w", err)
	}
	return nil
}
