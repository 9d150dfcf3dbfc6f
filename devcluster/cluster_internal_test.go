package devcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// useProgram makes a shell script the program devcluster, and an empty directory the one of temporary files, which it returns. The script
// has the directory of its cluster in $dir.
func useProgram(t *testing.T, script string) (temporary string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "devcluster")
	const findDir = "#!/bin/sh\nwhile test \"$1\" != --dir; do shift; done; dir=$2\n"
	require.NoError(t, os.WriteFile(binary, []byte(findDir+script), 0o755))
	temporary = t.TempDir()
	t.Setenv(binaryEnv, binary)
	t.Setenv(kubeconfigEnv, "")
	t.Setenv("TMPDIR", temporary)
	return temporary
}

const becomeReady = `
echo starting
cat > $dir/kubeconfig <<end
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
end
echo "export KUBECONFIG=$dir/kubeconfig"
`

func TestStopSaysWhatEndedTheCluster(t *testing.T) {
	useProgram(t, becomeReady+`
echo "kube-apiserver: exit status 1; starting it again in 10s"
echo "devcluster: given up after 10 restarts: kube-apiserver: exit status 1" >&2
exit 1
`)
	var shown strings.Builder
	cluster, err := Up(t.Context(), WithOutput(&shown))
	require.NoError(t, err)
	err = cluster.Stop()
	require.ErrorContains(t, err, "starting it again")
	require.ErrorContains(t, err, "given up after 10 restarts: kube-apiserver")
	assert.Contains(t, shown.String(), "given up", "both streams are the progress")
	assert.Contains(t, shown.String(), "starting\n")
}

func TestStopOfAClusterThatRunsIsNoError(t *testing.T) {
	useProgram(t, becomeReady+"cat > /dev/null; rm -r $dir\n")
	cluster, err := Up(t.Context())
	require.NoError(t, err)
	require.NoError(t, cluster.Stop())
}

func TestFailedStartLeavesNoDirectory(t *testing.T) {
	temporary := useProgram(t, "echo no >&2; mkdir $dir/logs; exit 1\n")
	_, err := Up(t.Context())
	require.ErrorContains(t, err, "no\n")
	assertEmpty(t, temporary)
	require.NoError(t, os.WriteFile(os.Getenv(binaryEnv), []byte("#!/no/such/shell\n"), 0o755))
	_, err = Up(t.Context())
	require.ErrorContains(t, err, "start devcluster")
	assertEmpty(t, temporary)
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestOutputKeepsItsEnd(t *testing.T) {
	o := &output{to: &strings.Builder{}}
	for range 3 {
		_, err := o.Write([]byte(strings.Repeat("a", maxOutput-10)))
		require.NoError(t, err)
	}
	_, err := o.Write([]byte("end"))
	require.NoError(t, err)
	assert.Len(t, o.String(), maxOutput)
	assert.True(t, strings.HasSuffix(o.String(), "aend"))
}
