package pki

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
)

func ensured(t *testing.T) clusterdir.Dir {
	t.Helper()
	dir, err := clusterdir.New(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, dir.Create())
	require.NoError(t, Ensure(dir))
	return dir
}

func verify(t *testing.T, dir clusterdir.Dir, ca, name string, options x509.VerifyOptions) (*x509.Certificate, error) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(dir.PKI(name+".crt"), dir.PKI(name+".key"))
	require.NoError(t, err)
	pem, err := os.ReadFile(dir.PKI(ca + ".crt"))
	require.NoError(t, err)
	options.Roots = x509.NewCertPool()
	require.True(t, options.Roots.AppendCertsFromPEM(pem))
	_, err = pair.Leaf.Verify(options)
	return pair.Leaf, err
}

func TestServerCertificates(t *testing.T) {
	dir := ensured(t)
	for _, host := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc", ServiceIP} {
		_, err := verify(t, dir, "ca", "apiserver", x509.VerifyOptions{DNSName: host})
		assert.NoError(t, err, host)
	}
	_, err := verify(t, dir, "ca", "apiserver", x509.VerifyOptions{DNSName: "example.com"})
	assert.Error(t, err)
	_, err = verify(t, dir, "etcd/ca", "etcd/server", x509.VerifyOptions{DNSName: "127.0.0.1"})
	assert.NoError(t, err)
}

func TestClientCertificates(t *testing.T) {
	dir := ensured(t)
	client := x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	admin, err := verify(t, dir, "ca", "user-admin", client)
	require.NoError(t, err)
	assert.Equal(t, []string{"system:masters"}, admin.Subject.Organization)
	_, err = verify(t, dir, "etcd/ca", "user-admin", client)
	assert.Error(t, err, "a Kubernetes user is nobody to etcd")
	_, err = verify(t, dir, "ca", "apiserver", client)
	assert.Error(t, err, "a server's certificate is not a user's")
}

func TestAuthoritiesAndServiceAccountKeyAreKept(t *testing.T) {
	dir := ensured(t)
	read := func() map[string]string {
		files := map[string]string{}
		for _, name := range []string{"ca.crt", "ca.key", "etcd/ca.crt", "sa.key", "sa.pub", "user-admin.crt"} {
			data, err := os.ReadFile(dir.PKI(name))
			require.NoError(t, err)
			files[name] = string(data)
		}
		return files
	}
	before := read()
	require.NoError(t, Ensure(dir))
	after := read()
	assert.NotEqual(t, before["user-admin.crt"], after["user-admin.crt"], "users get new certificates")
	delete(before, "user-admin.crt")
	delete(after, "user-admin.crt")
	assert.Equal(t, before, after)
}

func TestKeysArePrivate(t *testing.T) {
	dir := ensured(t)
	for _, name := range []string{"ca.key", "sa.key", "user-admin.key"} {
		info, err := os.Stat(dir.PKI(name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}

func TestBrokenAuthorityIsNamed(t *testing.T) {
	dir := ensured(t)
	require.NoError(t, os.WriteFile(dir.PKI("ca.crt"), []byte("nonsense"), 0o600))
	assert.ErrorContains(t, Ensure(dir), "ca.crt")
}
