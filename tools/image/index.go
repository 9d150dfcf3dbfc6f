package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user and group that the command runs as. It needs no name.
const nobody = "65532:65532"

// makeIndex builds the images of all platforms.
func makeIndex(r request) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range r.platforms {
		image, err := makeImage(r, platform)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	if r.directory != "" {
		return index, nil
	}
	return mutate.Annotations(index, labels(r)).(v1.ImageIndex), nil
}

func makeImage(r request, platform v1.Platform) (v1.Image, error) {
	if r.directory != "" {
		return directoryImage(r, platform)
	}
	binary, err := build(r, platform)
	if err != nil {
		return nil, err
	}
	bom, err := billOfMaterials(r, binary)
	if err != nil {
		return nil, err
	}
	layer, err := layerOf(r.created,
		file{"usr/share/sbom/" + r.command() + ".cdx.json", 0o444, bom},
		file{r.command(), 0o555, binary})
	if err != nil {
		return nil, err
	}
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: r.created}, CreatedBy: "go build " + r.pkg},
	})
	if err != nil {
		return nil, err
	}
	image, err = mutate.ConfigFile(image, configOf(r, platform, image))
	if err != nil {
		return nil, err
	}
	return mutate.Annotations(image, labels(r)).(v1.Image), nil
}

func configOf(r request, platform v1.Platform, image v1.Image) *v1.ConfigFile {
	config := &v1.ConfigFile{}
	if before, err := image.ConfigFile(); err == nil { // an image made in memory always has one
		config = before.DeepCopy()
	}
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Created = v1.Time{Time: r.created}
	config.Config = v1.Config{
		Entrypoint: []string{"/" + r.command()},
		User:       nobody,
		WorkingDir: "/",
		Labels:     labels(r),
	}
	return config
}

// labels describe the image, in the words of the OCI image specification.
func labels(r request) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    r.command(),
		"org.opencontainers.image.version":  r.version,
		"org.opencontainers.image.revision": r.revision,
		"org.opencontainers.image.created":  r.created.Format(time.RFC3339),
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.source":   "https://github.com/armature-dev/armature",
	}
}

// file is one of a layer's.
type file struct {
	name    string
	mode    int64
	content []byte
}

func layerOf(created time.Time, files ...file) (v1.Layer, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		header := &tar.Header{
			Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: created,
			Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("layer: %s: %w", f.name, err)
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, fmt.Errorf("layer: %s: %w", f.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buf.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}
