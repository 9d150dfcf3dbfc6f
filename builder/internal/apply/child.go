package apply

import (
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/confighash"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fasthash"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Child is a desired object with its options, which builder documents.
type Child struct {
	// Object is the object as it was given. The builder doesn't change it.
	Object client.Object
	// Options are the child's options. Nil: the defaults.
	Options *Options
	// Phase is the child's phase; empty for none.
	Phase string
	// ReadyWhen evaluates whether the child is ready. Nil: the rules of package readiness.
	ReadyWhen func(client.Object) readiness.Status
	// CrossNamespace is true for a child outside its owner's namespace.
	CrossNamespace bool
	// CreateOnly is true for a child that is created and never changed.
	CreateOnly bool

	once *onceHashed // of an immutable child
}

// Options are the options of a child. They are part of the hash by which a later pass recognizes the child.
type Options struct {
	Ignored        []string
	ConfigOf       []any // the arguments of HashFrom
	AdoptOrphan    bool
	AdoptLabels    map[string]string
	FormerManagers []string
	KeepImmutable  bool
	Recreate       *Recreate // nil: a child with a changed immutable field isn't recreated
	Retain         bool
}

// Recreate sets how a child with a changed immutable field is recreated.
type Recreate struct {
	// Dependents selects what the API server does with the object's dependents. Default: DeletePropagationBackground.
	Dependents metav1.DeletionPropagation
}

// Change returns the options of a child for changes, and creates them if needed.
func (c *Child) Change() *Options {
	if c.Options == nil {
		c.Options = &Options{}
	}
	return c.Options
}

// HashedOnce returns the child with a hash that is computed once, for all copies of it.
func (c Child) HashedOnce() Child {
	c.once = &onceHashed{}
	return c
}

// onceHashed is the hash of an immutable child. All copies of the child share it.
type onceHashed struct {
	once sync.Once
	hash uint64
	ok   bool
}

// Hash identifies, within this process, a child and its options. It returns false if they have no hash.
func (c Child) Hash() (uint64, bool) {
	if c.once == nil {
		return c.computeHash()
	}
	c.once.once.Do(func() { c.once.hash, c.once.ok = c.computeHash() })
	return c.once.hash, c.once.ok
}

func (c Child) computeHash() (uint64, bool) {
	if c.Options == nil {
		return fasthash.Of(c.Object)
	}
	return fasthash.Of(&struct {
		Object  client.Object
		Options *Options
	}{c.Object, c.Options})
}

// ignoring returns a copy of the child with more ignored fields.
func (c Child) ignoring(fields []string) Child {
	c.once = nil
	var options Options
	if c.Options != nil {
		options = *c.Options
	}
	options.Ignored = slices.Concat(options.Ignored, fields)
	c.Options = &options
	return c
}

// Retained reports whether the child stays after its owner's deletion.
func (c Child) Retained() bool { return c.Options != nil && c.Options.Retain }

// FormerManagers returns the former field managers of the options.
func (c Child) FormerManagers() []string {
	if c.Options == nil {
		return nil
	}
	return c.Options.FormerManagers
}

// checkRetain returns an error for options that contradict Retain.
func (d *Desired) checkRetain() error {
	switch {
	case !d.Child.Retained():
		return nil
	case d.Child.CrossNamespace:
		return fmt.Errorf("%w: %s has Retain and CrossNamespace, which deletes it with its owner", failure.ErrMisuse, d.Key)
	case d.Child.CreateOnly:
		return fmt.Errorf("%w: %s has Retain, which marks it, beside CreateOnly, which leaves it as it is", failure.ErrMisuse, d.Key)
	default:
		return nil
	}
}

// checkCreateOnly returns an error for options that have no effect on a child that is never changed.
func (d *Desired) checkCreateOnly() error {
	option, options := "", d.Child.Options
	switch {
	case options == nil:
		return nil
	case len(options.Ignored) > 0:
		option = "Ignore"
	case len(options.ConfigOf) > 0:
		option = "HashFrom"
	case options.KeepImmutable || options.Recreate != nil:
		option = "KeepImmutable or RecreateImmutable"
	case slices.ContainsFunc(options.FormerManagers, func(manager string) bool { return manager != fieldmanager.KubectlApply }):
		option = "a former manager of Adopt"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s has %s, which is about changes, beside CreateOnly, which makes none", failure.ErrMisuse, d.Key, option)
}

// keepsImmutable reports whether the child stays if an immutable field differs.
func (d *Desired) keepsImmutable() bool {
	return d.Child.Options != nil && d.Child.Options.KeepImmutable
}

// recreates returns how the child is recreated if an immutable field differs, nil if it isn't.
func (d *Desired) recreates() *Recreate {
	if d.Child.Options == nil {
		return nil
	}
	return d.Child.Options.Recreate
}

// checkPolicy returns an error for an invalid policy.
func (d *Desired) checkPolicy() error {
	recreate := d.recreates()
	if recreate == nil {
		return nil
	}
	switch recreate.Dependents {
	case "", metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground, metav1.DeletePropagationBackground:
		return nil
	default:
		return fmt.Errorf("%w: RecreateImmutable(%q) of %s; use Orphan, Foreground or Background",
			failure.ErrMisuse, recreate.Dependents, d.Key)
	}
}

// setHash sets the digest of the child's configuration in its pod template. obj is the child's copy.
func (d *Desired) setHash(c *Cluster, obj client.Object) error {
	if d.Child.Options == nil || len(d.Child.Options.ConfigOf) == 0 {
		return nil
	}
	digest, err := confighash.Of(d.Child.Options.ConfigOf, c.Kinds.GVK)
	if err != nil {
		return fmt.Errorf("%w: HashFrom of %s: %w", failure.ErrMisuse, d.Key, err)
	}
	if !confighash.SetEnv(obj, wellknown.EnvConfigHash, digest) {
		return fmt.Errorf("%w: HashFrom of %s: it has no pod template; want one at spec.template, "+
			"spec.jobTemplate.spec.template or template", failure.ErrMisuse, d.Key)
	}
	return nil
}
