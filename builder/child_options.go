package builder

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
)

// AdoptOptions are options of [Adopt]. The zero value adopts an object that has no controller.
type AdoptOptions struct {
	// Labels are the labels that an object must have to be adopted. The builder itself or one of FormerManagers must have set them, so
	// that an object with the same labels from another writer isn't adopted. Labels that kubectl apply set don't count. Default: no label
	// is required.
	Labels map[string]string
	// FormerManagers are the field managers of an operator that this one replaces, by updates or by server-side apply. The builder takes
	// over their fields. Default: none.
	FormerManagers []string
	// OwnedOnly adopts nothing: the options apply only to an object that the owner already controls, such as one that an operator of
	// another name created for the same owner. Default: false.
	OwnedOnly bool
}

// Adopt lets a child take over an existing object of its name. The builder makes the owner its controller and applies the desired
// state, in one write that fails with a conflict if the object has changed since it was observed. The builder waits for an object that
// is terminating. It never adopts an object with another controller or without the required labels: the error is [ErrNotOwned], as
// without this option.
//
// Without a change of field managers, the former manager would keep its fields, and the builder could never remove them. So the
// builder takes over the fields that kubectl apply and the former managers have set. It removes those that aren't desired, and the API
// server sets their defaults again. To keep a value, desire it, or [Ignore] its field. The fields of all other managers stay as they
// are.
//
// If the owner already controls the object, the next pass takes over the fields of the former managers, even if nothing else changes.
// Without any option the builder takes over the fields that this program has set by updates, as controllerutil.CreateOrUpdate does,
// before it used the builder. It leaves finalizers and references to owners other than the controller, because another program may
// have the same default manager name, such as "manager".
//
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply.
func Adopt(options AdoptOptions) ChildOption { return options }

func (o AdoptOptions) applyToChild(c *Child) {
	options := c.desired.Change()
	options.AdoptOrphan, options.AdoptLabels = !o.OwnedOnly, o.Labels
	options.FormerManagers = append([]string{fieldmanager.KubectlApply}, o.FormerManagers...)
}

// CreateOnly creates a child that doesn't exist, and leaves an existing one unchanged. Use it for run-to-completion objects such as
// Jobs and Pods. An existing object costs one cache lookup, a new one costs one POST and one copy. The builder sets the owner as its
// controller and the builder's label, and no digest. To change an existing one, use Plan.Edits.
//
// Otherwise it is like other children. An object of its name that the owner doesn't control is [ErrNotOwned]. With [Adopt], the
// builder takes over an object without a controller: one patch sets the controller and the label, and nothing else. The builder waits
// for a terminating object of its name, then creates the child. It prunes the child when it is no longer desired.
//
// Options about changes are [ErrMisuse] beside it: [Ignore], [HashFrom], [KeepImmutable], [RecreateImmutable], [InPhase], and former
// managers of [Adopt].
func CreateOnly() ChildOption { return childOption(func(c *Child) { c.desired.CreateOnly = true }) }

// Retain keeps a child that is no longer desired, and keeps it when its owner is deleted, as a PersistentVolume's reclaim policy Retain
// keeps the volume. Use it for data: without it, the garbage collector deletes a PersistentVolumeClaim, and so its data, with its owner.
// The child has no owner reference, and the builder never prunes it. The annotations armature.dev/owner-kind and armature.dev/owner name
// its owner: a later owner of the same kind and name takes it over. They count only if the object's managed fields show that the builder
// has set them. An object without them is [ErrNotOwned], unless [Adopt] allows it.
//
// The option can be added and removed. When it is added, the builder removes the owner reference of a controlled child and changes
// nothing else. When it is removed, the child has no controller, so [Adopt] takes it back.
//
// An operator watches such children with [Operator.Watches] and [Referencing], because they have no controller. Retain beside
// [InPhase] is [ErrMisuse].
func Retain() ChildOption { return childOption(func(c *Child) { c.desired.Change().Retain = true }) }

// Ignore leaves fields of a child to other writers, such as an autoscaler's replicas or an annotation that a tool sets. The builder
// sends the desired value when it creates the object. Afterwards it doesn't compare, write or own the field, so that another desired
// value changes nothing. If the builder applied the field before, it releases the field with its current value. Default: the builder
// restores each desired value that another writer changed, and leaves empty fields to others. So Ignore is for fields that need an initial
// value. If the API server refuses another desired value because of an ignored field, such as a strategy's rollingUpdate beside the type
// Recreate, the pass has an error that says so, and the object stays, also with [RecreateImmutable].
//
// A path names fields as they are called in YAML, with dots between them. The key of a map, and the key fields of a list element,
// stand in brackets:
//
//	spec.replicas
//	metadata.annotations[example.com/x]
//	data[nginx.conf]
//	spec.template.spec.containers[name=web].image
//	spec.template.spec.containers[name=web].ports[containerPort=80,protocol=TCP]
//
// A path covers the named field and all fields below it. Where the API server takes a list or a map as one value (tolerations,
// selectors), a path must name the whole value. A path is [ErrMisuse] if its syntax is wrong, if it names a field that every child
// needs (its name, kind, controller), or if the object's Go type has no such field. For unstructured objects only the API server knows
// the fields: a path to no field has no effect.
//
// Paths name what server-side apply records as owned fields; see https://kubernetes.io/docs/reference/using-api/server-side-apply/.
func Ignore(fields ...string) ChildOption {
	return childOption(func(c *Child) {
		options := c.desired.Change()
		options.Ignored = append(options.Ignored, fields...)
	})
}

// HashFrom rolls the pods of a child when their configuration changes. The builder computes one digest of all arguments and sets it in
// the pod template, as the environment variable ARMATURE_CONFIG_HASH of every container except init containers. It replaces a desired
// variable of that name. Without the option, pods see a changed ConfigMap late or never.
//
// The digest covers the kind, name, data and binaryData of a ConfigMap, and the kind, name, data and stringData of a Secret, but not
// their other metadata, owner or namespace. It covers another Kubernetes object except its metadata and status. It covers another
// value as github.com/mitchellh/hashstructure/v2 does: its exported fields that aren't zero, except fields with the tag
// `hash:"ignore"`. The order of the arguments and of maps doesn't matter. Nil and empty data of a ConfigMap or Secret are equal. The
// digest covers the objects as given: give those that the same pass desires, or those of a [View]. HashFrom reads nothing from the
// cluster and changes no argument.
//
// The child may be of any kind with a pod template, including unstructured objects, at spec.template (Deployment, StatefulSet,
// DaemonSet, ReplicaSet, Job, custom resources), spec.jobTemplate.spec.template (CronJob) or template (PodTemplate). A child without
// one is [ErrMisuse], and so is a nil argument. The template of a Job is immutable: see [RecreateImmutable].
func HashFrom(objs ...any) ChildOption {
	var of []any
	for _, obj := range objs {
		of = append(of, behindPointer(obj))
	}
	return childOption(func(c *Child) {
		options := c.desired.Change()
		options.ConfigOf = append(options.ConfigOf, of...)
	})
}

// behindPointer returns a pointer to a value, because the fast hash takes pointers.
func behindPointer(value any) any {
	v := reflect.ValueOf(value)
	if !v.IsValid() || v.Kind() == reflect.Pointer {
		return value
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Interface()
}

// KeepImmutable leaves a child whose immutable field differs from the desired one unchanged, as a whole, until the desired object
// changes. Immutable are the template of a Job, the selector of a Deployment, the volumeClaimTemplates of a StatefulSet. The builder emits
// one event and makes no further request. After a restart of the process it tries the change once more, and emits the event again. Default,
// without this option and without [RecreateImmutable]: the terminal error [ErrImmutable]. The last one of both options counts.
func KeepImmutable() ChildOption { return onImmutable(true, nil) }

// RecreateImmutable deletes a child that the API server can't change into the desired one, in the version that was observed, and creates
// it again when it is gone. Until then it is in [Result].Pending. The data in it, such as a volume's, is lost. The option needs the
// permission to delete, and enough quota for a dry run of the new object, which the API server never stores.
//
// dependents selects what the API server does with the object's dependents: the pods of a StatefulSet, the ReplicaSets of a Deployment.
// DeletePropagationOrphan leaves them running, and a new object of the same selector adopts them. DeletePropagationForeground deletes
// them first: the builder creates the new object when all of them are gone. DeletePropagationBackground, and the empty value, deletes
// them afterwards, so that old and new dependents exist side by side for a while. Any other value is [ErrMisuse].
//
// An answer Invalid doesn't prove that a field is immutable, because the desired object may be invalid itself. So the builder creates
// the desired object in a dry run, under another name (a Service without the addresses and node ports that the existing one holds).
// Only if the API server accepts the dry run, the builder recreates the child, or keeps it with [KeepImmutable]. Otherwise it returns the
// error and deletes nothing. A dry run doesn't show whether another Service holds a fixed cluster IP: a Service with such an address
// isn't created until the address is free.
//
// The API server decides which fields are immutable: see "kubectl explain" and, for custom resources, rules such as self == oldSelf.
func RecreateImmutable(dependents metav1.DeletionPropagation) ChildOption {
	return onImmutable(false, &apply.Recreate{Dependents: dependents})
}

// onImmutable returns the option for a child that the API server can't change.
func onImmutable(keep bool, recreate *apply.Recreate) ChildOption {
	return childOption(func(c *Child) {
		options := c.desired.Change()
		options.KeepImmutable, options.Recreate = keep, recreate
	})
}

// ErrImmutable is the cause of an [Error] about an existing child that can't be changed into the desired one, although the API server
// would accept the desired object as a new one. See [KeepImmutable] and [RecreateImmutable].
var ErrImmutable = failure.ErrImmutable
