package fakenode

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{
		"fake-0": true, "fake-1234": true,
		"fake-": false, "fake-01": false, "fake--1": false, "fake-x": false, "7": false, "minikube": false,
	} {
		assert.Equal(t, want, IsName(name), name)
	}
}

func TestDeleteBeyondKeepsTheFirstAndAllOthers(t *testing.T) {
	other := newNode(9)
	other.Name, other.Labels = "fake-9", nil
	client := fake.NewClientset(newNode(0), newNode(1), newNode(2), newNode(10), other)
	require.NoError(t, DeleteBeyond(t.Context(), client, 2))
	list, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for _, node := range list.Items {
		names = append(names, node.Name)
	}
	assert.ElementsMatch(t, []string{"fake-0", "fake-1", "fake-9"}, names)
}
