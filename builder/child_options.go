package builder

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
)

// AdoptOptions are options of Adopt. The zero value adopts an object that has no controller.
type AdoptOptions struct {
	// Labels are those that an object must have to be adopted, set by the builder itself or by one of FormerManagers: an object
	// that a predecessor of the owner left behind, and nothing that someone else labelled alike. kubectl apply doesn't count. Default:
	// labels don't matter.
	Labels map[string]string
	// FormerManagers are the field managers of an operator that this one replaces, by updates or by server-side apply. Their fields
	// become the builder's.
	FormerManagers []string
	// OwnedOnly adopts nothing: the options apply to an object that the owner already controls. An operator of another name may have
	// made it for the same owner.
	OwnedOnly bool
}

// Adopt lets a child take over an existing object of its name: the owner becomes its controller, and the desired state is applied, in one
// write that fails if anything else has written since the object was observed. The builder waits for an object that is being deleted. An
// object with another controller, or without the labels asked for, is never taken: that is [ErrNotOwned], as without this option.
//
// The manager that wrote the object before would keep owning its fields, so that what isn't desired could never be removed. So the fields
// set by kubectl apply, and by the former managers, become those of the builder; those that aren't desired go, and defaults come
// back. To keep a value, desire it, or [Ignore] its field. Fields of all other managers are left alone.
//
// An object that the owner controls already gives up the fields of the former managers in the next pass, whether anything else changes or
// not. Without any option the builder does that for what this very program has written by updates, as controllerutil.CreateOrUpdate does,
// before it wrote the object by the builder; but finalizers, and references to owners other than the controller, stay, since another
// program may have the same default name, such as "manager".
//
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply.
func Adopt(options AdoptOptions) ChildOption { return options }

func (o AdoptOptions) applyToChild(c *Child) {
	options := c.desired.Change()
	options.AdoptOrphan, options.AdoptLabels = !o.OwnedOnly, o.Labels
	options.Former = append([]string{fieldmanager.KubectlApply}, o.FormerManagers...)
}

// CreateOnly creates a child that doesn't exist, and leaves an existing one as it is. Use it for run-to-completion objects such as
// Jobs and Pods. An existing object costs one cache lookup, a new one costs one POST and one copy. It gets the owner as its
// controller and the builder's label, and no digest. Plan.Edits changes one that exists.
//
// All else is as for other children. An object of that name that isn't the owner's is [ErrNotOwned]; with
// [Adopt] one without a controller becomes the owner's by a patch of that and the label, and of nothing else. One that is being
// deleted is waited for, and then created again. It is pruned when it is no longer desired.
//
// Options that are about changes are [ErrMisuse] beside it: [Ignore], [HashFrom], [OnImmutable], [InPhase], and former
// managers of [Adopt].
func CreateOnly() ChildOption { return createOnly{} }

type createOnly struct{}

func (createOnly) applyToChild(c *Child) { c.desired.CreateOnly = true }

// Retain keeps a child that is no longer desired, and keeps it when its owner is deleted, as a PersistentVolume's reclaim policy
// Retain keeps the volume. Use it for data, such as a PersistentVolumeClaim. The child has no owner reference and is never
// pruned. The annotations armature.dev/owner-kind and armature.dev/owner name its owner: a later owner of the same kind and name
// takes it over. They count only as far as the object's managed fields say that the builder has set them. An object without them
// is refused with [ErrNotOwned], unless [Adopt] allows it.
//
// The option can be added and removed. Added, a controlled child loses its owner reference and is otherwise unchanged. Removed,
// the child has no controller, so [Adopt] takes it back.
//
// Its changes cause passes by [Operator.Watches] with [Referencing]: it isn't found by its controller. It can't be in a phase.
func Retain() ChildOption { return retain{} }

type retain struct{}

func (retain) applyToChild(c *Child) { c.desired.Change().Retain = true }

// Ignore leaves fields of a child to others: an autoscaler's replicas, an annotation that a tool writes. The builder sends the desired
// value when it creates the object; afterwards it neither compares, nor writes, nor owns the field, so that another desired value changes
// nothing. A field that was applied before is released with the value that it has. Default: the builder puts desired values back whoever
// changed them, and leaves to others what is left empty: Ignore is for fields that need a first value.
//
// A path names fields as they are called in YAML, with dots between them; the key of a map, and what tells an element
// of a list from the others, go in brackets:
//
//	spec.replicas
//	metadata.annotations[example.com/x]
//	data[nginx.conf]
//	spec.template.spec.containers[name=web].image
//	spec.template.spec.containers[name=web].ports[containerPort=80,protocol=TCP]
//
// All that is in a named field is left alone as well. In lists and maps that the API server takes as one value
// (tolerations, selectors), nothing smaller than the whole can be left to others. A path that can't be read, names what
// every child needs (its name, kind, controller), or isn't a field of the object's Go type, is [ErrMisuse]. Of
// unstructured objects only the API server knows which fields there are: a path that names none changes nothing.
//
// Paths name what server-side apply records as owned fields; see
// https://kubernetes.io/docs/reference/using-api/server-side-apply/.
func Ignore(fields ...string) ChildOption { return ignored(fields) }

type ignored []string

func (fields ignored) applyToChild(c *Child) {
	options := c.desired.Change()
	options.Ignored = append(options.Ignored, fields...)
}

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
	options := c.desired.Change()
	options.ConfigOf = append(options.ConfigOf, of...)
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

// ImmutablePolicy says what to do about an object that can't be changed into the desired one: another template of a Job, another selector
// of a Deployment, other volumeClaimTemplates of a StatefulSet. It is [Keep] or [Recreate]; nil is the default: the object stays as it is,
// with the error [ErrImmutable], which is terminal.
type ImmutablePolicy interface{ applyTo(*apply.Options) }

// Keep leaves the object as it is, all of it, until something else is desired. The builder emits one event and makes no further request.
// After a restart of the process it makes two more requests, and emits the event again.
type Keep struct{}

func (Keep) applyTo(options *apply.Options) { options.KeepImmutable = true }

// Recreate deletes the object, in the very state that was observed, and creates a new one as soon as it is gone; until then it is among
// [Result.Waiting]. What it contains (a volume's data) is lost. This needs the permission to delete, and a quota with room for a trial,
// which is never stored.
type Recreate struct {
	// Dependents says what becomes of the object's dependents: the pods of a StatefulSet, the ReplicaSets of a Deployment.
	// DeletePropagationOrphan leaves them running, and a new object of the same selector adopts them. DeletePropagationForeground
	// deletes them first: the new object is created once all of them are gone. Default: DeletePropagationBackground, which deletes
	// them afterwards: the old and the new ones exist side by side for a while. Any other value is ErrMisuse.
	Dependents metav1.DeletionPropagation
}

func (r Recreate) applyTo(options *apply.Options) {
	options.Recreate = &apply.Recreate{Dependents: r.Dependents}
}

// OnImmutable says what to do when the API server won't change an existing child into the desired one.
//
// That the API server calls a change invalid is no proof: the desired object may be invalid altogether. So a dry run creates the desired
// object under another name (of a Service, without the addresses and node ports that the existing one holds). Only if that is accepted is
// the change one of an immutable field, and is the policy followed; else the error is reported as it is, and nothing is ever deleted. A
// dry run can't see whether another Service has a fixed cluster IP: one that is recreated with it isn't created until it is free.
//
// Which fields are immutable is up to the API server: see "kubectl explain" and, for custom resources, rules such as
// self == oldSelf.
func OnImmutable(policy ImmutablePolicy) ChildOption { return onImmutable{policy} }

type onImmutable struct{ policy ImmutablePolicy }

func (o onImmutable) applyToChild(c *Child) {
	options := c.desired.Change()
	options.KeepImmutable, options.Recreate = false, nil
	if o.policy != nil {
		o.policy.applyTo(options)
	}
}

// ErrImmutable is the cause of an Error about a child that exists and can't be changed into the desired one, which the API server would
// accept as a new object. See OnImmutable.
var ErrImmutable = failure.ErrImmutable
