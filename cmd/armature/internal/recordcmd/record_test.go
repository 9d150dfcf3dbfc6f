package recordcmd

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// The pod is that of the one manager that runs the object's kind in its namespace.
func TestLeaderOf(t *testing.T) {
	one := leader.Manager{Namespace: "a", Lease: "one", Holder: "pod-1_uuid", Scope: leader.Scope{Operators: []string{"jobflow", "fluxjob"}}}
	other := leader.Manager{
		Namespace: "b", Lease: "two", Holder: "pod-2_uuid", Scope: leader.Scope{Operators: []string{"jobflow"}, Namespaces: []string{"team"}},
	}
	released := leader.Manager{Namespace: "c", Lease: "three", Scope: leader.Scope{Operators: []string{"daemonjob"}}}
	all := []leader.Manager{one, other, released}
	flow := record.Owner{Kind: "JobFlow.api.practice.com", Namespace: "default"}

	found, err := leaderOf(all, flow)
	require.NoError(t, err)
	assert.Equal(t, one, found)
	found, err = leaderOf(all, record.Owner{Kind: "FluxSetup.api.practice.com"})
	require.NoError(t, err)
	assert.Equal(t, one, found)
	flow.Namespace = "team"
	_, err = leaderOf(all, flow)
	assert.ErrorContains(t, err, "several managers run objects of kind JobFlow.api.practice.com (leases a/one, b/two)")
	_, err = leaderOf(all, record.Owner{Kind: "DaemonJob.api.practice.com", Namespace: "x"})
	assert.ErrorContains(t, err, `no manager with a lease runs objects of kind DaemonJob.api.practice.com in namespace "x"`)
}

// The tunnel is kubectl's: its address is read, and what it says when it fails is told.
func TestTunnel(t *testing.T) {
	dir := t.TempDir()
	kubectl := func(script string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!/bin/sh\n"+script), 0o700)) //nolint:gosec // it must run
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	kube := genericclioptions.NewConfigFlags(true)
	*kube.Context = "prod"

	kubectl(`case "$*" in "port-forward --address=127.0.0.1 --namespace=ns pod/pod-1 :8082 --context=prod") ;; *) echo "$*" >&2; exit 1;; esac
echo $$ >` + dir + `/pid
echo "Forwarding from 127.0.0.1:4321 -> 8082"
exec sleep 60`)
	address, stop, err := tunnel(t.Context(), kube, "ns", "pod-1", Port)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:4321", address)
	text, err := os.ReadFile(filepath.Join(dir, "pid")) //nolint:gosec // of this test
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.NoError(t, syscall.Kill(pid, 0), "it runs")
	stop()
	assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the command leaves no kubectl behind")

	*kube.Impersonate, *kube.ImpersonateGroup, *kube.ImpersonateUID = "ann", []string{"dev", "ops"}, "u1"
	*kube.ImpersonateUserExtra = []string{"scope=a b"}
	*kube.CAFile, *kube.TLSServerName, *kube.Insecure = "/ca.pem", "api.example", true
	*kube.CertFile, *kube.KeyFile, *kube.ProxyURL = "/me.pem", "/me.key", "http://proxy:1"
	kubectl(`printf "%s\n" "$@" >&2; exit 1`)
	_, _, err = tunnel(t.Context(), kube, "ns", "pod-1", Port)
	assert.ErrorContains(t, err, strings.Join([]string{
		"port-forward", "--address=127.0.0.1", "--namespace=ns", "pod/pod-1", ":8082",
		"--as=ann", "--as-group=dev", "--as-group=ops", "--as-uid=u1",
		"--as-user-extra=scope=a b", "--certificate-authority=/ca.pem", "--client-certificate=/me.pem", "--client-key=/me.key", "--context=prod",
		"--insecure-skip-tls-verify=true", "--proxy-url=http://proxy:1", "--tls-server-name=api.example\n",
	}, "\n"), "it is the same user at the same server")

	kubectl(`echo "error: pods is forbidden" >&2; exit 1`)
	_, _, err = tunnel(t.Context(), kube, "ns", "pod-1", Port)
	assert.ErrorContains(t, err, "kubectl port-forward to pod ns/pod-1: exit status 1\nerror: pods is forbidden")
}

// kubectl gets a token in a file that only its owner reads, and no longer than it needs it: everyone on the machine sees its arguments.
func TestTunnelWithAToken(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TMPDIR", dir)
	script := `#!/bin/sh
case "$*" in *secret*) echo "the token is an argument" >&2; exit 1;; esac
for a; do case "$a" in --kubeconfig=*) file="${a#--kubeconfig=}";; --user=*) echo "$a" >&2;; esac; done
ls -l "$file" | cut -c1-10 >&2
cat "$file" >` + dir + `/seen
exit 1
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700)) //nolint:gosec // it must run
	file := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(file, []byte(`apiVersion: v1
kind: Config
current-context: dev
contexts: [{name: dev, context: {cluster: c, user: ann}}, {name: prod, context: {cluster: c, user: ben}}]
clusters: [{name: c, cluster: {server: "https://api.example"}}]
users: [{name: ann, user: {token: anns, as: root}}, {name: ben, user: {token: bens, as: admin}}]
`), 0o600))
	for contextName, as := range map[string]string{"": "root", "prod": "admin"} {
		kube := genericclioptions.NewConfigFlags(true)
		*kube.KubeConfig, *kube.Context, *kube.BearerToken = file, contextName, "secret"
		_, _, err := tunnel(t.Context(), kube, "ns", "pod-1", Port)
		require.ErrorContains(t, err, "exit status 1\n--user=armature-record\n-rw-------\n")
		seen, err := clientcmd.LoadFromFile(filepath.Join(dir, "seen"))
		require.NoError(t, err)
		user := seen.AuthInfos["armature-record"]
		require.NotNil(t, user)
		assert.Equal(t, []string{"secret", as}, []string{user.Token, user.Impersonate}, "of the context %q", contextName)
		assert.Equal(t, "https://api.example", seen.Clusters["c"].Server)
		left, err := filepath.Glob(filepath.Join(dir, "armature-*"))
		require.NoError(t, err)
		assert.Empty(t, left, "the file is gone")
	}
}

// Standard output, which the root command cleans, is the same passes as a file.
func TestSaveToStandardOutput(t *testing.T) {
	list := recordedPasses(t, "jobflow")
	list.Items[0].Error = "a DEL \x7f and \u202e"
	var out bytes.Buffer
	require.NoError(t, save(list, "", output.Clean(&out), &bytes.Buffer{}))
	read, err := record.Read(&out)
	require.NoError(t, err)
	assert.Equal(t, list, read)
}

// A cluster without Armature's kinds is told from a mistyped kind.
func TestOwnerOfAnUnknownKind(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		assert.NoError(t, json.NewEncoder(w).Encode(map[string]any{}))
	}))
	t.Cleanup(server.Close)
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	kube := genericclioptions.NewConfigFlags(true)
	*kube.APIServer, *kube.CacheDir = server.URL, t.TempDir()
	_, err := ownerOf(kube, []string{"jf/x"})
	require.EqualError(t, err, `the server doesn't have a resource type "jf"`)
	assert.ErrorContains(t, connect.Advise(err), "armature install installs them")
}

// What the manager has is fetched, and saved in a file that only its owner reads.
func TestFetchAndSave(t *testing.T) {
	var answer record.List
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, record.Path+"?kind=JobFlow&name=nightly&namespace=default", r.URL.String())
		w.WriteHeader(status)
		assert.NoError(t, answer.Write(w))
	}))
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	owner := record.Owner{Kind: "JobFlow", Namespace: "default", Name: "nightly"}

	_, err := fetch(t.Context(), address, owner)
	assert.ErrorContains(t, err, "the manager has no recorded pass over JobFlow default/nightly")
	answer.Items = recordedPasses(t, "jobflow").Items
	list, err := fetch(t.Context(), address, owner)
	require.NoError(t, err)
	assert.Equal(t, answer.Items, list.Items)
	status = http.StatusForbidden
	_, err = fetch(t.Context(), address, owner)
	assert.ErrorContains(t, err, "the manager answered 403 Forbidden")
	_, err = fetch(t.Context(), "nowhere", owner)
	assert.EqualError(t, err, `--address must be host:port, got "nowhere"`)
	_, err = fetch(t.Context(), "127.0.0.1:1", owner)
	assert.ErrorContains(t, err, "does the manager run with --record-bytes?")
	assert.Equal(t, err, connect.Advise(err), "it isn't the API server that refuses")

	file := filepath.Join(t.TempDir(), "nightly.json")
	var errs bytes.Buffer
	require.NoError(t, save(list, file, &bytes.Buffer{}, &errs))
	assert.Equal(t, "3 passes in "+file+"\n", errs.String())
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	read, err := readFile(file, nil)
	require.NoError(t, err)
	assert.Equal(t, list, read)
}
