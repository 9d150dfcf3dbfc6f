package testcluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
)

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Namespace makes a namespace for the test and returns its name. Pods can be created in it. When the test ends, what runs in it is
// deleted; nobody waits for that. If the environment names the cluster, the whole namespace is.
func Namespace(tb testing.TB) string {
	tb.Helper()
	config := Config(tb)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		tb.Fatalf("testcluster: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix(tb.Name())}}
	ns, err = client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	if err != nil {
		tb.Fatalf("testcluster: create namespace: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var err error
		switch {
		case shared.process == nil:
			err = client.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{})
		case shared.options.runsPods():
			err = stopAll(ctx, client.Discovery(), metadata.NewForConfigOrDie(config), ns.Name)
		}
		if err != nil {
			tb.Logf("testcluster: clean up namespace %s: %v", ns.Name, err)
		}
	})
	// A pod is refused until its service account exists, which a controller makes a moment later.
	err = wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	if err != nil {
		tb.Fatalf("testcluster: namespace %s gets no default service account: %v", ns.Name, err)
	}
	return ns.Name
}

// stopAll deletes the objects of a namespace that make something run: those of operators, workloads and pods. The rest only takes space
// until the cluster is gone. To delete the namespace takes about a hundred requests, two for each kind of object that a cluster knows:
// that was a quarter of the processors' time that these tests took.
func stopAll(ctx context.Context, kinds discovery.DiscoveryInterface, objects metadata.Interface, namespace string) error {
	lists, err := discovery.ServerPreferredNamespacedResources(kinds)
	errs := []error{err}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, kind := range list.APIResources {
			if !runs(version.Group, kind) {
				continue
			}
			err := objects.Resource(version.WithResource(kind.Name)).Namespace(namespace).DeleteCollection(ctx,
				metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}, metav1.ListOptions{})
			if err != nil {
				errs = append(errs, fmt.Errorf("delete all %s: %w", version.WithResource(kind.Name).GroupResource(), err))
			}
		}
	}
	return errors.Join(errs...)
}

// runs says if objects of a kind make something run: a controller, or a container.
func runs(group string, kind metav1.APIResource) bool {
	switch {
	case !slices.Contains(kind.Verbs, "deletecollection"):
		return false
	case group == "":
		return kind.Name == "pods" || kind.Name == "replicationcontrollers"
	case group == "apps":
		return kind.Name != "controllerrevisions"
	case group == "batch":
		return true
	}
	return group != "autoscaling" && group != "policy" && !strings.HasSuffix(group, ".k8s.io")
}

// prefix makes a test's name fit for the start of a namespace's.
func prefix(test string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(test), "-"), "-")
	return strings.TrimRight(name[:min(len(name), 50)], "-") + "-"
}
