package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const hello = `package main

import "fmt"

var buildVersion = "(devel)"

func main() { fmt.Println("hello", buildVersion) }
`

// makeArchive writes an archive of a small program and returns its path.
func makeArchive(t *testing.T) string {
	source := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(source, "cmd", "hello"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(source, "go.mod"), []byte("module example.org/hello\n\ngo 1.26.0\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(source, "cmd", "hello", "main.go"), []byte(hello), 0o600))
	output := filepath.Join(t.TempDir(), "dist", "hello.tar")
	require.NoError(t, run([]string{
		"-source", source, "-package", "./cmd/hello", "-name", "example/hello", "-version", "v1.2.3+dirty", "-revision", "abc",
		"-created", "1790000000", "-output", output,
	}))
	return output
}

func TestArchiveIsReproducible(t *testing.T) {
	one, err := os.ReadFile(makeArchive(t))
	require.NoError(t, err)
	two, err := os.ReadFile(makeArchive(t))
	require.NoError(t, err)
	assert.True(t, bytes.Equal(one, two), "two builds of the same sources, in two directories, differ")
}

func TestArchiveIsAnImageOfEachPlatform(t *testing.T) {
	dir := unpack(t, makeArchive(t))
	outer, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	require.NoError(t, validate.Index(outer))
	top, err := outer.IndexManifest()
	require.NoError(t, err)
	require.Len(t, top.Manifests, 1)
	assert.Equal(t, "docker.io/example/hello:v1.2.3-dirty", top.Manifests[0].Annotations["io.containerd.image.name"])
	assert.Equal(t, "example/hello:v1.2.3-dirty", top.Manifests[0].Annotations["org.opencontainers.image.ref.name"])

	inner, err := outer.ImageIndex(top.Manifests[0].Digest)
	require.NoError(t, err)
	manifest, err := inner.IndexManifest()
	require.NoError(t, err)
	var platforms []string
	for _, d := range manifest.Manifests {
		platforms = append(platforms, d.Platform.String())
		image, err := inner.Image(d.Digest)
		require.NoError(t, err)
		checkImage(t, image, *d.Platform)
	}
	assert.Equal(t, []string{"linux/amd64", "linux/arm64"}, platforms)
}

func checkImage(t *testing.T, image v1.Image, platform v1.Platform) {
	config, err := image.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, platform.Architecture, config.Architecture)
	assert.Equal(t, "65532:65532", config.Config.User)
	assert.Equal(t, []string{"/hello"}, config.Config.Entrypoint)
	assert.Equal(t, "v1.2.3+dirty", config.Config.Labels["org.opencontainers.image.version"])
	assert.Equal(t, "abc", config.Config.Labels["org.opencontainers.image.revision"])

	files := read(t, mutate.Extract(image))
	assert.Equal(t, "\x7fELF", string(files["hello"][:4]))
	assert.Contains(t, string(files["hello"]), "v1.2.3+dirty")
	var bom struct {
		BOMFormat string
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, PURL string }
	}
	require.NoError(t, json.Unmarshal(files["usr/share/sbom/hello.cdx.json"], &bom))
	assert.Equal(t, "CycloneDX", bom.BOMFormat)
	assert.Equal(t, "example.org/hello", bom.Metadata.Component.Name)
	require.NotEmpty(t, bom.Components)
	assert.Equal(t, "std", bom.Components[0].Name)
}

// The package "." is a directory without a name: the command is called like the image.
func TestNameOfTheCommand(t *testing.T) {
	for pkg, want := range map[string]string{"./cmd/hello": "hello", ".": "world", "./": "world"} {
		assert.Equal(t, want, request{pkg: pkg, name: "example/world"}.command(), pkg)
	}
}

func TestBadArgumentsAreRefused(t *testing.T) {
	_, err := parse([]string{"-package", "./x", "-name", "x", "-version", "1"})
	require.EqualError(t, err, "-output is required")
	_, err = parse([]string{"-package", "./x", "-directory", "x", "-name", "x", "-version", "1", "-output", "x"})
	require.EqualError(t, err, "one of -package and -directory is required")
	_, err = parse([]string{"-package", "./x", "-name", "x", "-version", "1", "-output", "x", "-platforms", "linux"})
	require.ErrorContains(t, err, `"linux" is not an os/architecture`)
	err = run([]string{"-package", "./nothing", "-name", "x", "-version", "1", "-output", filepath.Join(t.TempDir(), "x")})
	require.ErrorContains(t, err, "build ./nothing for linux/amd64")
}

func TestContainerdFindsTheImageByItsFullName(t *testing.T) {
	for name, want := range map[string]string{
		"armature":                      "docker.io/library/armature:1",
		"example/armature":              "docker.io/example/armature:1",
		"localhost/armature":            "localhost/armature:1",
		"localhost:5000/armature":       "localhost:5000/armature:1",
		"registry.example.com/armature": "registry.example.com/armature:1",
	} {
		assert.Equal(t, want, request{name: name, version: "1"}.fullReference())
	}
}

func TestImageOfADirectory(t *testing.T) {
	source := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(source, "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(source, "bin", "busybox"), []byte("program"), 0o755))
	require.NoError(t, os.Symlink("busybox", filepath.Join(source, "bin", "sh")))
	output := filepath.Join(t.TempDir(), "busybox.tar")
	require.NoError(t, run([]string{"-directory", source, "-name", "busybox", "-version", "1.28", "-platforms", "linux/arm64", "-output", output}))

	outer, err := layout.ImageIndexFromPath(unpack(t, output))
	require.NoError(t, err)
	require.NoError(t, validate.Index(outer))
	top, err := outer.IndexManifest()
	require.NoError(t, err)
	inner, err := outer.ImageIndex(top.Manifests[0].Digest)
	require.NoError(t, err)
	manifest, err := inner.IndexManifest()
	require.NoError(t, err)
	image, err := inner.Image(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	config, err := image.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, "arm64", config.Architecture)
	assert.Equal(t, []string{"sh"}, config.Config.Cmd)
	modes, links := map[string]int64{}, map[string]string{}
	for files := tar.NewReader(mutate.Extract(image)); ; {
		header, err := files.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		modes[header.Name], links[header.Name] = header.Mode, header.Linkname
	}
	assert.EqualValues(t, 0o755, modes["bin/busybox"])
	assert.Equal(t, "busybox", links["bin/sh"])
}

// unpack writes an archive's files into a directory.
func unpack(t *testing.T, archive string) string {
	f, err := os.Open(archive)
	require.NoError(t, err)
	dir := t.TempDir()
	for name, content := range read(t, f) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	return dir
}

// read returns the files of a tar stream, and closes it.
func read(t *testing.T, r io.ReadCloser) map[string][]byte {
	files := map[string][]byte{}
	tr := tar.NewReader(r)
	for {
		header, err := tr.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		files[header.Name], err = io.ReadAll(tr)
		require.NoError(t, err)
	}
	require.NoError(t, r.Close())
	return files
}
