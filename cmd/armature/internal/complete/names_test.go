package complete

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

func TestComplete(t *testing.T) {
	list := func(kind string) []string {
		return map[string][]string{"jobflow": {"nightly", "noon"}, "jf": {"nightly", "noon"}, "daemonjob": {"scan"}}[kind]
	}
	both := []string{"daemonjob", "jobflow"}
	for _, tt := range []struct {
		kinds, args []string
		typed       string
		want        []string
	}{
		{both, nil, "", []string{"daemonjob/", "jobflow/"}},
		{both, nil, "j", []string{"jobflow/"}},
		{both, nil, "jobflow/", []string{"jobflow/nightly", "jobflow/noon"}},
		{both, nil, "jf/ni", []string{"jf/nightly"}},
		{both, []string{"jobflow"}, "no", []string{"noon"}},
		{both, []string{"jobflow/noon"}, "d", []string{"daemonjob/"}},
		{[]string{"jobflow"}, nil, "", []string{"jobflow/nightly", "jobflow/noon"}},
		{both, nil, "pods/", nil},
	} {
		got, _ := complete(list, tt.kinds, tt.args, tt.typed)
		assert.Equal(t, tt.want, got, "%v %s", tt.args, tt.typed)
	}
}

// Without a cluster there are no names, and no error.
func TestWithoutCluster(t *testing.T) {
	kube := genericclioptions.NewConfigFlags(true)
	none := "testdata/none"
	kube.KubeConfig = &none
	got, _ := Names(kube, "jobflow")(nil, nil, "")
	assert.Empty(t, got)
}
