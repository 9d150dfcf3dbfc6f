// Package tree removes directories that a program has made read-only.
package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove removes the path and all that is below it, as [os.RemoveAll] does, also where directories are read-only. The module cache of the
// Go command has such directories, and only root can remove what is in them.
func Remove(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// A directory that can't be changed is found by the second removal, whose error names it.
	_ = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			makeWritable(at, entry)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// makeWritable lets the owner of the directory read and change it. WalkDir reads the directory afterwards.
func makeWritable(dir string, entry fs.DirEntry) {
	if info, err := entry.Info(); err == nil && info.Mode()&0o700 != 0o700 {
		_ = os.Chmod(dir, info.Mode().Perm()|0o700)
	}
}
