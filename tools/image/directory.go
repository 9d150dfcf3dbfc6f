package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// directoryImage is an image of a directory's files as they are, such as busybox and its links. They run as root.
func directoryImage(r request, platform v1.Platform) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		read, write := io.Pipe()
		go func() { write.CloseWithError(tarDirectory(write, r)) }()
		return read, nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("layer of %s: %w", r.directory, err)
	}
	image := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{Layer: layer}); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = platform.OS, platform.Architecture, platform.Variant
	config.Created = v1.Time{Time: r.created}
	config.Config = v1.Config{Cmd: []string{"sh"}, Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
	return mutate.ConfigFile(image, config)
}

// tarDirectory writes the directory's files and links in the order of their names.
func tarDirectory(out io.Writer, r request) error {
	w := tar.NewWriter(out)
	err := filepath.WalkDir(r.directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == r.directory {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		target := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err = os.Readlink(path); err != nil {
				return err
			}
		}
		header, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.directory, path)
		if err != nil {
			return err
		}
		*header = tar.Header{Name: filepath.ToSlash(name), Mode: header.Mode, Size: header.Size, Typeflag: header.Typeflag,
			Linkname: target, ModTime: r.created, Format: tar.FormatPAX}
		if err := w.WriteHeader(header); err != nil || header.Typeflag != tar.TypeReg {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(w, file)
		return err
	})
	return errors.Join(err, w.Close())
}
