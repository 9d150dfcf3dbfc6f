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

// gather reads the facts about a family: its events, and the objects that its pods need.
func gather(ctx context.Context, cluster *connect.Cluster, members family.Family, now time.Time) (diagnose.Facts, error) {
	c, root := cluster.Client, members.Root.Unstructured
	events, err := eventsIn(ctx, c, root.GetNamespace())
	if err != nil {
		return diagnose.Facts{}, err
	}
	facts := diagnose.Facts{
		Now: now, Root: diagnose.Of(members.Root, events), ClaimEvents: map[string]diagnose.Event{}, Absent: map[string]bool{},
	}
	pods := podsOf(members.Root)
	if err := readScheduling(ctx, c, &facts, pods); err != nil {
		return facts, err
	}
	if err := readClaims(ctx, c, &facts, root.GetNamespace(), events); err != nil {
		return facts, err
	}
	if err := readReferences(ctx, c, &facts, pods); err != nil {
		return facts, err
	}
	if err := readManagers(ctx, c, &facts); err != nil {
		return facts, err
	}
	return facts, readQueue(ctx, c, &facts, root)
}

// readManagers reads the managers from their leases, for an object of Armature's kinds.
func readManagers(ctx context.Context, c client.Client, facts *diagnose.Facts) error {
	if facts.Root.GroupVersionKind().Group != v1alpha1.GroupVersion.Group {
		return nil
	}
	managers, err := leader.Read(ctx, c)
	if apierrors.IsForbidden(err) {
		return nil
	}
	facts.Managers = managers
	return err
}

// eventsIn returns the events of a namespace by the UID of their object, the latest last.
func eventsIn(ctx context.Context, c client.Client, namespace string) (map[types.UID][]diagnose.Event, error) {
	var list corev1.EventList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("list events: %w", err)
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

// readScheduling reads the nodes. Without the permission, only the scheduler's messages remain.
func readScheduling(ctx context.Context, c client.Client, facts *diagnose.Facts, pods []*corev1.Pod) error {
	if len(pods) == 0 && facts.Root.GetKind() != "DaemonJob" && !namesNode(facts.Root) {
		return nil
	}
	var nodes corev1.NodeList
	switch err := c.List(ctx, &nodes); {
	case err == nil:
		facts.Nodes = append([]corev1.Node{}, nodes.Items...)
	case !apierrors.IsForbidden(err):
		return fmt.Errorf("list nodes: %w", err)
	}
	return nil
}

// namesNode reports whether a Job's pods name their node: if it doesn't exist, the pods are soon deleted.
func namesNode(o *diagnose.Object) bool {
	name, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "nodeName")
	return name != "" && o.GetKind() == "Job" || slices.ContainsFunc(o.Owned, namesNode)
}

// readClaims reads the namespace's claims with their events, and the storage classes.
func readClaims(
	ctx context.Context, c client.Client, facts *diagnose.Facts, namespace string, events map[types.UID][]diagnose.Event,
) error {
	var claims corev1.PersistentVolumeClaimList
	if err := c.List(ctx, &claims, client.InNamespace(namespace)); apierrors.IsForbidden(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("list persistentvolumeclaims: %w", err)
	}
	facts.Claims = map[string]*corev1.PersistentVolumeClaim{}
	unbound := false
	for i := range claims.Items {
		claim := &claims.Items[i]
		facts.Claims[claim.Name] = claim
		unbound = unbound || claim.Status.Phase != corev1.ClaimBound
		if about := events[claim.UID]; len(about) > 0 {
			facts.ClaimEvents[claim.Name] = about[len(about)-1]
		}
	}
	if !unbound {
		return nil
	}
	var classes storagev1.StorageClassList
	switch err := c.List(ctx, &classes); {
	case err == nil:
		facts.Classes = append([]storagev1.StorageClass{}, classes.Items...)
	case !apierrors.IsForbidden(err):
		return fmt.Errorf("list storageclasses: %w", err)
	}
	return nil
}

// readReferences checks the existence of the Secrets and ConfigMaps that pods wait for, each once. It reads their metadata only.
func readReferences(ctx context.Context, c client.Client, facts *diagnose.Facts, pods []*corev1.Pod) error {
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
			err := c.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: ref.Name}, o)
			switch {
			case apierrors.IsNotFound(err):
				facts.Absent[key] = true
			case err != nil && !apierrors.IsForbidden(err):
				return fmt.Errorf("get %s: %w", key, err)
			}
		}
	}
	return nil
}

// readQueue reads the FluxSetup of a FluxJob.
func readQueue(ctx context.Context, c client.Client, facts *diagnose.Facts, root *unstructured.Unstructured) error {
	if root.GroupVersionKind() != v1alpha1.GroupVersion.WithKind("FluxJob") {
		return nil
	}
	name, _, _ := unstructured.NestedString(root.Object, "status", "queue")
	if name == "" {
		return nil
	}
	queue := &v1alpha1.FluxSetup{}
	switch err := c.Get(ctx, client.ObjectKey{Name: name}, queue); {
	case err == nil:
		facts.Queue = queue
	case !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err):
		return fmt.Errorf("get fluxsetup %s: %w", name, err)
	}
	return nil
}
