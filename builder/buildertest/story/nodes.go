package story

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// addNodes is the command node: "node n1 n2 cpu=4 memory=8Gi pods=10 labels=(a=b) taints=(dedicated=v:NoSchedule)". A resource that isn't
// named is unlimited.
func addNodes(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1, "cpu", "memory", "pods", "labels", "taints"); err != nil {
		return "", err
	}
	for _, name := range l.Words {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
		maps.Copy(node.Labels, labels(l))
		for _, text := range l.Options["taints"] {
			taint, err := parseTaint(text)
			if err != nil {
				return "", err
			}
			node.Spec.Taints = append(node.Spec.Taints, taint)
		}
		status := corev1.NodeStatus{Allocatable: corev1.ResourceList{}}
		for _, key := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
			if text, ok, err := value(l, string(key)); err != nil {
				return "", err
			} else if ok {
				q, err := resource.ParseQuantity(text)
				if err != nil {
					return "", fmt.Errorf("node: %s is %q; a quantity such as 4 or 8Gi is accepted", key, text)
				}
				status.Allocatable[key] = q
			}
		}
		if err := s.user.Create(ctx, node); err != nil {
			return "", err
		}
		node.Status = status
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		if err := s.user.Status().Update(ctx, node); err != nil {
			return "", err
		}
	}
	return "", nil
}

// parseTaint reads key=value:effect or key:effect.
func parseTaint(text string) (corev1.Taint, error) {
	rest, effect, ok := strings.Cut(text, ":")
	effects := []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
	if !ok || !slices.Contains(effects, effect) {
		return corev1.Taint{}, fmt.Errorf("node: taint %q; key=value:effect is accepted, with an effect of %q", text, effects)
	}
	key, value, _ := strings.Cut(rest, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}, nil
}

// cordon is the commands cordon and uncordon, with the taint that the control plane then adds or removes.
func cordon(ctx context.Context, s *Story, l Line) (string, error) {
	taint := corev1.Taint{
		Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: new(metav1.NewTime(s.world.Server().Clock().Now())),
	}
	return "", eachNode(ctx, s, l, func(n *corev1.Node) error {
		n.Spec.Unschedulable = l.Command == "cordon"
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
		if n.Spec.Unschedulable {
			n.Spec.Taints = append(n.Spec.Taints, taint)
		}
		return s.user.Update(ctx, n)
	})
}

// breakNode is the commands break-node and repair-node: the node's kubelet stops, and runs again.
func breakNode(ctx context.Context, s *Story, l Line) (string, error) {
	is := corev1.ConditionTrue
	if l.Command == "break-node" {
		is = corev1.ConditionUnknown
	}
	return "", eachNode(ctx, s, l, func(n *corev1.Node) error {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: is}}
		return s.user.Status().Update(ctx, n)
	})
}

func eachNode(ctx context.Context, s *Story, l Line, change func(*corev1.Node) error) error {
	if err := only(l, -1); err != nil {
		return err
	}
	for _, name := range l.Words {
		n := &corev1.Node{}
		if err := s.user.Get(ctx, client.ObjectKey{Name: name}, n); err != nil {
			return err
		}
		if err := change(n); err != nil {
			return err
		}
	}
	return nil
}
