package main

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// writeArchive writes the image as an OCI image layout in a tar file. It carries the names by which containerd
// (io.containerd.image.name) and others (org.opencontainers.image.ref.name) import it.
func writeArchive(r request, index v1.ImageIndex) (err error) {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          r.fullReference(),
		"org.opencontainers.image.ref.name": r.reference(),
	}))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.output), 0o755); err != nil {
		return err
	}
	out, err := os.Create(r.output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return tarUp(out, dir, r)
}

// tarUp writes a directory's files in the order of their names, as if all were made at the time of the commit.
func tarUp(out io.Writer, dir string, r request) error {
	w := tar.NewWriter(out)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		header := &tar.Header{
			Name: filepath.ToSlash(name), Mode: 0o444, Size: int64(len(content)), ModTime: r.created,
			Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	return errors.Join(err, w.Close())
}
