package builder

import (
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/confighash"
	"github.com/armature-dev/armature/builder/internal/podtemplate"
	"github.com/armature-dev/armature/internal/wellknown"
)

// HashFrom rolls the pods of a child when what they are configured with changes: one digest of all that is given goes
// into its pod template, as the environment variable ARMATURE_CONFIG_HASH of every container (not of init containers; one that
// is desired under that name is replaced). Without the option, pods see a changed ConfigMap late or never.
//
// Of a ConfigMap the data and binaryData count, of a Secret the data and stringData, and each one's kind and name; not
// their other metadata, owner or place. Of another Kubernetes object all but metadata and status counts, of any other
// value what github.com/mitchellh/hashstructure/v2 sees of it: exported fields that aren't zero, but for those tagged
// `hash:"ignore"`. Neither the order of the arguments nor that of maps matters, nor whether a ConfigMap's or Secret's
// data is nil or empty. What counts is the objects as they are given: give those that are desired in the same pass, or
// those of a [View]. Nothing is read and nothing is changed.
//
// The child may be of any kind with a pod template, also unstructured, at spec.template (Deployment, StatefulSet,
// DaemonSet, ReplicaSet, Job, custom resources), spec.jobTemplate.spec.template (CronJob) or template (PodTemplate). A
// child without one is [ErrMisuse], as is a nil. The template of a Job can't be changed: see [OnImmutable].
func HashFrom(objs ...any) ChildOption {
	var of hashFrom
	for _, obj := range objs {
		of = append(of, behindPointer(obj))
	}
	return of
}

type hashFrom []any

func (of hashFrom) applyToChild(c *Child) {
	how := c.change()
	how.ConfigOf = append(how.ConfigOf, of...)
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

// setHash sets the digest of what the child is configured with in its pod template. obj is the child's copy.
func (d *desired) setHash(p *pass, obj client.Object) error {
	if d.child.how == nil || len(d.child.how.ConfigOf) == 0 {
		return nil
	}
	digest, err := confighash.Of(d.child.how.ConfigOf, p.engine.kinds.GVK)
	if err != nil {
		return fmt.Errorf("%w: HashFrom of %s: %w", ErrMisuse, d.key, err)
	}
	if !podtemplate.SetEnv(obj, wellknown.EnvConfigHash, digest) {
		return fmt.Errorf("%w: HashFrom of %s: it has no pod template; want one at spec.template, "+
			"spec.jobTemplate.spec.template or template", ErrMisuse, d.key)
	}
	return nil
}
