package connect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAdvise(t *testing.T) {
	plain := errors.New("boom")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{plain, ""},
		{fmt.Errorf("read: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "api.practice.com", Kind: "JobFlow"}, SearchedVersions: []string{"v1alpha1"}}), "armature install"},
		{&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "apps", Kind: "Widget"}}, ""},
		{errors.New(`the server doesn't have a resource type "jf"`), "armature install"},
		{errors.New(`the server doesn't have a resource type "jbflow"`), ""},
		{fmt.Errorf(`Get "https://10.0.0.1/api": %w`, syscall.ECONNREFUSED), "no API server answers"},
		{fmt.Errorf(`Get "http://localhost:8080/api": %w`, syscall.ECONNREFUSED), "no kubeconfig names a cluster"},
	} {
		got := Advise(tt.err)
		assert.ErrorIs(t, got, tt.err)
		if tt.want == "" {
			assert.Equal(t, tt.err, got)
		} else {
			assert.ErrorContains(t, got, tt.want)
		}
	}
	assert.NoError(t, Advise(nil))
}

// Who has no kubeconfig learns where it was searched.
func TestAdviseWithoutAKubeconfig(t *testing.T) {
	refused := fmt.Errorf(`Get "http://localhost:8080/api": %w`, syscall.ECONNREFUSED)
	t.Setenv("KUBECONFIG", "/missing/a:"+os.DevNull)
	require.ErrorContains(t, Advise(refused), "no kubeconfig names a cluster: searched the flag --kubeconfig, KUBECONFIG=/missing/a (not found), "+
		"KUBECONFIG="+os.DevNull+"; name a kubeconfig by --kubeconfig or the variable KUBECONFIG (Get ")
	t.Setenv("KUBECONFIG", "")
	require.ErrorContains(t, Advise(refused), filepath.Join(".kube", "config"))
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		args, object []string
		part         string
	}{
		{[]string{"jf/a"}, []string{"jf/a"}, ""},
		{[]string{"jf", "a"}, []string{"jf", "a"}, ""},
		{[]string{"jf/a", "b"}, []string{"jf/a"}, "b"},
		{[]string{"jf", "a", "b"}, []string{"jf", "a"}, "b"},
	} {
		object, part, err := Split(tt.args)
		assert.NoError(t, err)
		assert.Equal(t, tt.object, object)
		assert.Equal(t, tt.part, part)
	}
	for _, args := range [][]string{{"a"}, {"jf/a", "b", "c"}} {
		_, _, err := Split(args)
		assert.Error(t, err, args)
	}
}
