package builder

import (
	"fmt"
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/effect"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/phases"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/builder/rollout"
)

// Child is a desired object with its options.
type Child struct {
	desired apply.Child
	run     *phases.JobRun  // by RunOnce
	effect  *effect.Desired // of a journal of an effect; see package effects
}

// ChildOption configures one child. Default, without options: the builder applies the child at the beginning of the pass.
type ChildOption interface {
	applyToChild(*Child)
}

// childOption is an option as a function.
type childOption func(*Child)

func (f childOption) applyToChild(c *Child) { f(c) }

// Want returns a desired child. The object needs a name. Default namespace: the owner's. Empty fields belong to the API server's
// defaults and to other writers; to set a field to its zero value, use a pointer. If an earlier pass set a field and the object no
// longer sets it, the builder removes the field from the cluster, unless another field manager has set it too. The builder doesn't
// change the object: it sets the controller reference, labels and annotations on a copy. It ignores the status and fields that only
// the server sets, so that an object read from a cluster can be desired. An option that is nil has no effect.
func Want(obj client.Object, opts ...ChildOption) Child {
	if len(opts) == 0 {
		return Child{desired: apply.Child{Object: obj}} // a variable that options change would be allocated
	}
	c := Child{desired: apply.Child{Object: obj}}
	for _, o := range opts {
		if o != nil {
			o.applyToChild(&c)
		}
	}
	return c
}

// Object returns the object that was given to [Want].
func (c Child) Object() client.Object { return c.desired.Object }

// Immutable returns the child with the promise that nobody changes its object, or the arguments of its options, afterwards. Use it in
// a plan that renders a child once and returns it in each pass: the builder then computes the child's hash once, which is most of the
// cost of an unchanged child.
func (c Child) Immutable() Child {
	c.desired = c.desired.HashedOnce()
	return c
}

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
// controller and the builder's label, and no digest. Its owner reference keeps the API version in which the owner was then. To change an
// existing one, use Plan.Edits.
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

// CrossNamespace allows a child beyond the reach of garbage collection: a cluster-scoped child of a namespaced owner, or a child in
// another namespace, which its metadata.namespace names. Default: such a child is [ErrMisuse].
//
// The child has no owner reference. The label armature.dev/owner-uid and the annotations armature.dev/owner-kind and armature.dev/owner
// name its owner. They count only if the object's managed fields show that the engine's field manager has set them, or a manager that
// [Adopt] names as a former one. Any other object of the child's name is [ErrNotOwned], and the builder never prunes it, whatever its
// labels say. If such an object names the owner, and the field manager that says so has also set the owner's finalizer, it is probably a
// child from before the operator got another name: the builder keeps the finalizer, with ErrNotOwned, until the plan names the former
// manager or someone deletes the object. Others' copies of a child keep no owner; an event names them. The builder adds the finalizer
// armature.dev/cleanup to the owner before it creates the first such child. When the owner is deleted, [Builder.Reconcile] and an
// [Operator] delete these children, wait for them (see [Result].Pending), and then remove the finalizer. If the program no longer runs,
// someone must remove the finalizer by hand. The builder deletes these children even if the owner's deletion orphans its children. It
// prunes them like others.
//
// The program needs the permissions to patch owners, and to list and delete the kind in the whole cluster, also a version that no longer
// has such children: without Owns of the kind, the role of package rbac lacks them, and an owner with children of an earlier version
// can't be deleted. The message of its condition names the missing permission. So first release a version that still declares the kind,
// and whose plan has PruneAll and no such children: the builder deletes them and forgets the kind. Then release the one without the
// declaration. A plan should not let an owner's author choose names and namespaces freely, because the operator could then write objects
// that the author can't write. Managed fields are no stronger proof than the permission to patch: anyone with that permission can write
// under the engine's name and make the object look like a child. They could also have it deleted by a reference to an owner that doesn't
// exist.
//
// As an option of [Operator.Owns] it declares the kind of such children. An event of a child runs its owner's plan, and the view has
// the child. The operator watches the kind in the whole cluster, or in the namespaces of the manager's cache, which must include those
// of the children. If owners also have children of the kind in their own namespace, declare the kind twice, with and without the
// option. A plan with cross-namespace children of an undeclared kind is [ErrMisuse].
func CrossNamespace() interface {
	ChildOption
	OwnsOption
} {
	return crossNamespace{}
}

type crossNamespace struct{}

func (crossNamespace) applyToChild(c *Child) { c.desired.CrossNamespace = true }
func (crossNamespace) applyToOwns(o *owns)   { o.crossNamespace = true }

// ReadyWhen sets a function that decides whether the child is ready. The function receives the child as read from the cluster, with
// the Go type of the desired object, and must not change it. The builder calls it only for a child that is up to date and isn't
// terminating. The status Failed stops a roll-out. A child whose function panics isn't ready, and the log has the stack. Default, also for
// nil: the rules of package readiness.
//
// To extend the rules, call [readiness.Of] in the function. For example, a StatefulSet never reports a failure in its status; a plan
// that observes crashing pods can.
func ReadyWhen(ready func(child client.Object) readiness.Status) ChildOption {
	return childOption(func(c *Child) { c.desired.ReadyWhen = ready })
}

// InPhase puts a child in a phase, one of [rollout.Options].Phases. Default: no phase; the builder applies the child before all phases
// and doesn't wait for its readiness.
func InPhase(name string) ChildOption { return childOption(func(c *Child) { c.desired.Phase = name }) }

// RunOnce runs a Job to success once for each value, and never again for that value. Use it for migrations and other steps that must
// precede the rest. The child must be a *batchv1.Job, and [InPhase]. Later phases wait for its success. A first install with a RunOnce
// child goes phase by phase as well (see [rollout.Options]).
//
// The value identifies the effect of the Job, such as the version of a schema. Another value is another run. A value that ran before
// doesn't run again, also after other values: a return to an older value runs nothing. Default, for an empty value: a hash of the
// Job's pod template, so that each change of an image, a variable or a limit is another run. Prefer a value.
//
// The Job's name is <name>-<hash>, from the child's name and the value. The builder creates it once and never changes it. It records
// its success in the owner's ControllerRevision <owner>-<name>-<hash>, before it writes later phases. From then on the Job may be
// deleted. The builder removes the Job's ttlSecondsAfterFinished until the success is recorded, so that a Job that ended while the
// operator was down still exists. The record has the last 100 values.
//
//   - A failed Job stops later phases: the conditions have the reason RolloutHalted, and Stalled is True. The builder doesn't retry
//     it beyond its backoffLimit. Delete the failed Job to run it again with its present template, or set another value.
//   - If someone deletes a Job before its success is recorded, it runs again. So it runs to its end at least once, and to success
//     exactly once, unless it is deleted after its success and before a pass has observed that. Make the Job repeatable.
//   - Runs of one child don't overlap: a Job of another value waits until the condition Complete or Failed of the earlier one is
//     True. The exception is a Job that someone deletes in the background, the default of kubectl delete job: the Job is gone while
//     its pods still terminate. Delete with --cascade=foreground to prevent that.
//   - A rollback (see [rollout.Options]) neither interrupts a running Job nor undoes or repeats one that ran or failed. The condition
//     and the event name the Jobs that ran in the failed roll-out.
//   - A plan without the child lets the builder prune its Jobs, including one that has succeeded and isn't recorded yet. Keep the
//     child in the plan until the builder has written later phases.
//   - Leader election limits who creates the Job. A former leader that stalls between its read of the record and its creation of the
//     Job can repeat a run that another manager has recorded in between.
//
// To run a value again, delete the ControllerRevision of the record, or edit its annotation. If the annotation isn't valid JSON, the
// pass fails with a terminal error (see [IsTerminal]) that names the record, and nothing runs until someone repairs or deletes it.
// Other options about the retention or update of a child are [ErrMisuse] beside it.
func RunOnce(value string) ChildOption {
	return childOption(func(c *Child) { c.run = &phases.JobRun{Value: value} })
}

// usesPhases reports whether the options or a child ask for a roll-out. Otherwise a roll-out costs nothing.
func usesPhases(o rollout.Options, children []Child) bool {
	return len(o.Phases) > 0 || slices.ContainsFunc(children, func(c Child) bool { return c.desired.Phase != "" || c.run != nil })
}

// checkPhases returns the errors of the options, and of the children's phases.
func checkPhases(o rollout.Options, children []Child) error {
	if err := phases.CheckOptions(o); err != nil {
		return err
	}
	for _, c := range children {
		if c.run != nil && c.desired.Phase == "" {
			return c.checkRun()
		}
		phase := c.desired.Phase
		switch {
		case phase == "":
		case c.run == nil && phases.RunsRepeatedly(c.desired.Object):
			return fmt.Errorf("%w: %s is in phase %q and has spec.ttlSecondsAfterFinished: it would be deleted, put back and run again for ever; "+
				"add RunOnce(value) to run it once for each value, or leave the TTL out", ErrMisuse, nameOf(c.desired.Object), phase)
		case c.desired.CrossNamespace:
			return fmt.Errorf("%w: %s is in phase %q and has CrossNamespace; a revision keeps only what its owner controls, "+
				"so it can't be in a phase", ErrMisuse, nameOf(c.desired.Object), phase)
		case c.desired.Retained():
			return fmt.Errorf("%w: %s is in phase %q and has Retain; a revision keeps only what its owner controls, "+
				"so it can't be in a phase", ErrMisuse, nameOf(c.desired.Object), phase)
		case !slices.Contains(o.Phases, phase):
			return fmt.Errorf("%w: %s is in phase %q, which is none of %q: name it in Phases", ErrMisuse, nameOf(c.desired.Object), phase, o.Phases)
		}
	}
	return nil
}

// refusePhases returns an error if a call that can't roll children out has phases.
func refusePhases(children ...Child) error {
	if usesPhases(rollout.Options{}, children) {
		return fmt.Errorf("%w: children have phases; use Reconcile, which keeps their order", ErrMisuse)
	}
	return nil
}

// checkRun returns the errors of a RunOnce child.
func (c Child) checkRun() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: RunOnce %s: %s", ErrMisuse, nameOf(c.desired.Object), fmt.Sprintf(format, args...))
	}
	switch _, ok := c.desired.Object.(*batchv1.Job); {
	case kinds.IsNil(c.desired.Object):
		return wrong("the object is nil; give a *batchv1.Job")
	case !ok:
		return wrong("is a %T; give a *batchv1.Job", c.desired.Object)
	case c.desired.Object.GetName() == "":
		return wrong("metadata.name is empty; give a fixed name")
	case c.desired.Phase == "":
		return wrong("is in no phase; add InPhase: what is in later phases waits for it")
	case c.desired.Options != nil, c.desired.CreateOnly, c.desired.ReadyWhen != nil, c.desired.CrossNamespace:
		return wrong("has another option; of the options of a child only InPhase can be beside RunOnce")
	default:
		return nil
	}
}

// asRun returns the Job of a RunOnce child's value, with CreateOnly.
func (c Child) asRun() (Child, error) {
	if err := c.checkRun(); err != nil {
		return c, err
	}
	job, run, err := phases.RunOf(c.desired.Object.(*batchv1.Job), c.run.Value)
	if err != nil {
		return c, err
	}
	c.desired.Object, c.desired.CreateOnly, c.desired.ReadyWhen, c.run = job, true, run.Readiness, run
	return c, nil
}
