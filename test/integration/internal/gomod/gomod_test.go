package gomod

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root   = "../../../../tools/certmanager"
	module = "github.com/cert-manager/cert-manager"
)

// The module cache of a fresh machine is empty, and so it is here: the old one is the proxy.
func TestDirOfAModuleThatIsNotDownloadedYet(t *testing.T) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	t.Setenv("GOPROXY", "file://"+filepath.Join(cache, "cache", "download")+","+proxy)
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw") // or the directory can't be removed

	dir, err := Dir(root, module)
	require.NoError(t, err)
	crds, err := filepath.Glob(filepath.Join(dir, "deploy/crds/cert-manager.io_*.yaml"))
	require.NoError(t, err)
	assert.Len(t, crds, 4)
}

func TestDirOfNoModule(t *testing.T) {
	_, err := Dir(root, "example.com/nothing")
	require.ErrorContains(t, err, "example.com/nothing")
	_, err = Dir(t.TempDir(), module)
	require.ErrorContains(t, err, module)
}
