package crdtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/builder/buildertest/crdtest"
	tutorial "github.com/armature-dev/armature/examples/tutorial/api/v1"
)

// recorded is a test that records its errors and goes on.
type recorded struct {
	testing.TB
	errors []string
}

func (r *recorded) Helper()           {}
func (r *recorded) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorded) Fatal(args ...any) {
	r.Error(args...)
	panic(r)
}

// check returns the errors of [crdtest.Check].
func check(t *testing.T, scheme *runtime.Scheme, paths ...string) []string {
	t.Helper()
	r := &recorded{TB: t}
	func() {
		defer func() { _ = recover() }()
		crdtest.Check(r, scheme, paths...)
	}()
	return r.errors
}

func TestCheckNamesTheProperty(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, tutorial.AddToScheme(scheme))
	const head = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.examples.armature.dev}
spec:
  group: examples.armature.dev
  names: {kind: Backup, plural: backups}
  versions:
`
	version := func(name, properties string) string {
		return "  - {name: " + name + ", schema: {openAPIV3Schema: {type: object, properties: {" + properties + "}}}}\n"
	}
	const status = "status: {type: object, properties: {lastSuccess: {type: string, format: date-time}}}"
	file := filepath.Join(t.TempDir(), "crd.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }

	write(head + version("v1", "spec: {type: object}") + version("v0", status))
	assert.Empty(t, check(t, scheme, file), "the scheme has no v0")

	write(head + version("v0", status))
	assert.Equal(t, []string{"backups.examples.armature.dev: the scheme has no version of the kind Backup"}, check(t, scheme, file))

	write(head + version("v1", status))
	found := check(t, scheme, filepath.Dir(file))
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "backups.examples.armature.dev, version v1: status.lastSuccess: the schema admits")

	write("kind: Other\n")
	assert.Equal(t, []string{file + ": no CustomResourceDefinition"}, check(t, scheme, file))
}

// A CRD that isn't there or can't be read fails the test: it would check nothing.
func TestCheckFailsWithoutACRD(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.yaml")
	assert.Equal(t, []string{"stat " + missing + ": no such file or directory"}, check(t, runtime.NewScheme(), missing))

	link := filepath.Join(dir, "crd.yaml")
	require.NoError(t, os.Symlink(missing, link))
	found := check(t, runtime.NewScheme(), dir)
	require.Len(t, found, 1)
	assert.Contains(t, found[0], link+": open ")

	require.NoError(t, os.Remove(link))
	require.NoError(t, os.WriteFile(link, []byte("kind: [CustomResourceDefinition\n"), 0o600))
	found = check(t, runtime.NewScheme(), link)
	require.Len(t, found, 1)
	assert.Contains(t, found[0], link+": error converting YAML to JSON")
}
