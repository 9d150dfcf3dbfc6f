package explaincmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
)

// gathering is the facts about a family as far as they are known.
type gathering struct {
	client client.Client
	facts  diagnose.Facts
	unread []error // what the user may not read
}

// gather reads the facts about a family: its events, and the objects that its pods need. It also returns what the user may not read.
func gather(ctx context.Context, cluster *connect.Cluster, members family.Family, now time.Time) (diagnose.Facts, []error, error) {
	g := &gathering{client: cluster.Client}
	root := members.Root.Unstructured
	events, err := g.eventsIn(ctx, root.GetNamespace())
	if err != nil {
		return diagnose.Facts{}, nil, err
	}
	g.facts = diagnose.Facts{
		Now: now, Root: diagnose.Of(members.Root, events), ClaimEvents: map[string]diagnose.Event{}, Absent: map[string]bool{},
	}
	pods := podsOf(members.Root)
	for _, read := range []func() error{
		func() error { return g.readNodes(ctx, pods) },
		func() error { return g.readClaims(ctx, pods, events) },
		func() error { return g.readReferences(ctx, pods) },
		func() error { return g.readManagers(ctx) },
		func() error { return g.readQueue(ctx) },
	} {
		if err := read(); err != nil {
			return diagnose.Facts{}, nil, err
		}
	}
	return g.facts, g.unread, nil
}

// mayRead reports whether a request has succeeded. It records what the user may not read, and returns other errors.
func (g *gathering) mayRead(what string, err error) (bool, error) {
	if err == nil {
		return true, nil
	}
	err = fmt.Errorf("%s: %w", what, err)
	if apierrors.IsForbidden(err) {
		g.unread = append(g.unread, err)
		return false, nil
	}
	return false, err
}

// readManagers reads the managers from their leases, for an object of Armature's kinds. Few users may list the leases of all namespaces,
// and the other rules find a missing manager too, so that an explanation without the leases isn't unsure.
func (g *gathering) readManagers(ctx context.Context) error {
	if g.facts.Root.GroupVersionKind().Group != v1alpha1.GroupVersion.Group {
		return nil
	}
	managers, err := leader.Read(ctx, g.client, "")
	if apierrors.IsForbidden(err) {
		return nil
	}
	g.facts.Managers = managers
	return err
}

// eventsIn returns the events of a namespace by the UID of their object, the latest last.
func (g *gathering) eventsIn(ctx context.Context, namespace string) (map[types.UID][]diagnose.Event, error) {
	var list corev1.EventList
	if _, err := g.mayRead("list events", g.client.List(ctx, &list, client.InNamespace(namespace))); err != nil {
		return nil, err
	}
	byObject := map[types.UID][]diagnose.Event{}
	for i := range list.Items {
		e := &list.Items[i]
		last := e.LastTimestamp.Time
		for _, t := range []time.Time{e.EventTime.Time, e.CreationTimestamp.Time} {
			if last.IsZero() {
				last = t
			}
		}
		if e.Series != nil && e.Series.LastObservedTime.After(last) {
			last = e.Series.LastObservedTime.Time
		}
		byObject[e.InvolvedObject.UID] = append(byObject[e.InvolvedObject.UID],
			diagnose.Event{Type: e.Type, Reason: e.Reason, Message: e.Message, Last: last})
	}
	for _, events := range byObject {
		slices.SortStableFunc(events, func(a, b diagnose.Event) int { return a.Last.Compare(b.Last) })
	}
	return byObject, nil
}

// podsOf returns the pods of a family that haven't ended.
func podsOf(m *family.Member) []*corev1.Pod {
	var pods []*corev1.Pod
	if m.GetAPIVersion() == "v1" && m.GetKind() == "Pod" {
		pod := &corev1.Pod{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(m.Object, pod) == nil &&
			(pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == "") {
			pods = append(pods, pod)
		}
	}
	for _, child := range m.Owned {
		pods = append(pods, podsOf(child)...)
	}
	return pods
}

// readNodes reads the nodes, if the family has a use for them.
func (g *gathering) readNodes(ctx context.Context, pods []*corev1.Pod) error {
	if len(pods) == 0 && g.facts.Root.GetKind() != "DaemonJob" && !namesNode(g.facts.Root) {
		return nil
	}
	var nodes corev1.NodeList
	err := g.client.List(ctx, &nodes)
	if apierrors.IsForbidden(err) && len(pods) > 0 && !slices.ContainsFunc(pods, isUnscheduled) {
		return nil // few users may list nodes: an explanation of pods that have theirs isn't unsure for want of them
	}
	ok, err := g.mayRead("list nodes", err)
	if ok {
		g.facts.Nodes = append([]corev1.Node{}, nodes.Items...)
	}
	return err
}

func isUnscheduled(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" }

// namesNode reports whether a Job's pods name their node: if it doesn't exist, the pods are soon deleted.
func namesNode(o *diagnose.Object) bool {
	name, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "nodeName")
	return name != "" && o.GetKind() == "Job" || slices.ContainsFunc(o.Owned, namesNode)
}

// readClaims reads the namespace's claims with their events, and the storage classes, if the family has a use for them.
func (g *gathering) readClaims(ctx context.Context, pods []*corev1.Pod, events map[types.UID][]diagnose.Event) error {
	if !hasClaim(g.facts.Root) && !slices.ContainsFunc(pods, waitsForClaim) {
		return nil
	}
	var claims corev1.PersistentVolumeClaimList
	list := g.client.List(ctx, &claims, client.InNamespace(g.facts.Root.GetNamespace()))
	if ok, err := g.mayRead("list persistentvolumeclaims", list); !ok {
		return err
	}
	g.facts.Claims = map[string]*corev1.PersistentVolumeClaim{}
	unbound := false
	for i := range claims.Items {
		claim := &claims.Items[i]
		g.facts.Claims[claim.Name] = claim
		unbound = unbound || claim.Status.Phase != corev1.ClaimBound
		if about := events[claim.UID]; len(about) > 0 {
			g.facts.ClaimEvents[claim.Name] = about[len(about)-1]
		}
	}
	if !unbound {
		return nil
	}
	var classes storagev1.StorageClassList
	ok, err := g.mayRead("list storageclasses", g.client.List(ctx, &classes))
	if ok {
		g.facts.Classes = append([]storagev1.StorageClass{}, classes.Items...)
	}
	return err
}

// hasClaim reports whether an object is a claim, or owns one.
func hasClaim(o *diagnose.Object) bool {
	return o.GetAPIVersion() == "v1" && o.GetKind() == "PersistentVolumeClaim" || slices.ContainsFunc(o.Owned, hasClaim)
}

// waitsForClaim reports whether a pod may wait for a claim.
func waitsForClaim(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodPending &&
		slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}

// readReferences checks the existence of the Secrets and ConfigMaps that pods wait for, each once. It reads their metadata only.
func (g *gathering) readReferences(ctx context.Context, pods []*corev1.Pod) error {
	asked := map[string]bool{}
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, ref := range diagnose.References(pod) {
			key := ref.Kind + "/" + ref.Name
			if asked[key] {
				continue
			}
			asked[key] = true
			o := &metav1.PartialObjectMetadata{}
			o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(ref.Kind))
			err := g.client.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: ref.Name}, o)
			if apierrors.IsNotFound(err) {
				g.facts.Absent[key] = true
				continue
			}
			if _, err := g.mayRead("get "+key, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// readQueue reads the FluxSetup of a FluxJob. Without it, only the message about a waiting job is shorter.
func (g *gathering) readQueue(ctx context.Context) error {
	root := g.facts.Root
	if root.GroupVersionKind() != v1alpha1.GroupVersion.WithKind("FluxJob") {
		return nil
	}
	name, _, _ := unstructured.NestedString(root.Object, "status", "queue")
	if name == "" {
		return nil
	}
	queue := &v1alpha1.FluxSetup{}
	switch err := g.client.Get(ctx, client.ObjectKey{Name: name}, queue); {
	case err == nil:
		g.facts.Queue = queue
	case !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err):
		return fmt.Errorf("get fluxsetup %s: %w", name, err)
	}
	return nil
}
