package admission

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"
)

func secretWith(t *testing.T, host string) *corev1.Secret {
	t.Helper()
	certificate, key, err := certutil.GenerateSelfSignedCertKey(host, nil, nil)
	require.NoError(t, err)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "home", Name: "armature-webhook"},
		Data:       map[string][]byte{"tls.crt": certificate, "tls.key": key},
	}
}

func TestTheCertificateOfTheSecretIsServed(t *testing.T) {
	s := &SelfManaged{Dir: t.TempDir(), trusted: make(chan struct{})}
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	s.TLS(config)
	_, err := config.GetCertificate(nil)
	require.ErrorIs(t, err, errNoCertificate)

	require.NoError(t, s.take(&corev1.Secret{}))
	require.ErrorIs(t, s.Check(nil), errNoCertificate)

	for _, host := range []string{"first", "second"} {
		secret := secretWith(t, host)
		require.NoError(t, s.take(secret))
		served, err := config.GetCertificate(nil)
		require.NoError(t, err)
		assert.Contains(t, served.Leaf.DNSNames, host)
		noted, err := os.ReadFile(filepath.Join(s.Dir, "tls.crt"))
		require.NoError(t, err)
		assert.Equal(t, secret.Data["tls.crt"], noted)
	}
	assert.NoFileExists(t, filepath.Join(s.Dir, "tls.key"))
	require.ErrorIs(t, s.Check(nil), errNotTrusted)
	close(s.trusted)
	assert.NoError(t, s.Check(nil))
}

// What is wrong with a new one is said, and the one from before is served.
func TestACertificateThatCannotBeTaken(t *testing.T) {
	s := &SelfManaged{Dir: t.TempDir()}
	require.NoError(t, s.take(secretWith(t, "sound")))
	sound := s.pair.Load()

	mixed := secretWith(t, "one")
	mixed.Data["tls.key"] = secretWith(t, "other").Data["tls.key"]
	require.ErrorContains(t, s.take(mixed), "Secret home/armature-webhook: tls: private key does not match")
	assert.Same(t, sound, s.pair.Load())

	s.Dir = filepath.Join(s.Dir, "none")
	require.ErrorContains(t, s.take(secretWith(t, "other")), "a directory that must be the manager's to write: open "+s.Dir)
}
