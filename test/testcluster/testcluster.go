package testcluster

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	pollEvery = 20 * time.Millisecond
	patience  = 120 * time.Second
)

// Config returns a connection to the cluster with all rights, starting the cluster if need be. The caller may
// change it.
func Config(tb testing.TB) *rest.Config {
	tb.Helper()
	if err := shared.start(); err != nil {
		tb.Fatalf("testcluster: %v", err)
	}
	return rest.CopyConfig(shared.config)
}

// Kubeconfig returns the path of a kubeconfig file for the cluster, for programs that the test runs.
func Kubeconfig(tb testing.TB) string {
	tb.Helper()
	Config(tb)
	return shared.kubeconfig
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Namespace makes a namespace for the test and returns its name. Pods can be created in it. It is deleted when
// the test ends; nobody waits for that.
func Namespace(tb testing.TB) string {
	tb.Helper()
	client, err := kubernetes.NewForConfig(Config(tb))
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
		if err := client.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{}); err != nil {
			tb.Logf("testcluster: delete namespace %s: %v", ns.Name, err)
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

// prefix makes a test's name fit for the start of a namespace's.
func prefix(test string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(test), "-"), "-")
	return strings.TrimRight(name[:min(len(name), 50)], "-") + "-"
}
