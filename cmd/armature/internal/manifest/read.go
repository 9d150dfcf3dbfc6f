package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

// stdin is what standard input is called in places.
const stdin = "<stdin>"

var extensions = []string{".json", ".yaml", ".yml"}

// maxFile is how many bytes a file may have: 20 times what etcd stores of one object. The bound protects memory: a file of another
// repository may have any size.
const maxFile = 32 << 20

// NoArgs refuses arguments: files are named with -f.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: name files with -f", args[0])
	}
	return nil
}

// Read reads the documents of files, of the manifests in directories (and below them, if recursive), and of standard input for
// "-", of at most 32 MiB each. What can't be read are errors, joined; the rest is returned all the same. A directory without manifests
// is an error.
func Read(names []string, recursive bool, in io.Reader) ([]*Document, error) {
	var all []*Document
	var errs []error
	for _, name := range names {
		if name == "-" {
			docs, err := parseAll(stdin, in)
			all, errs = append(all, docs...), append(errs, err)
			continue
		}
		files, err := expand(name, recursive)
		errs = append(errs, err)
		for _, file := range files {
			docs, err := parseFile(file)
			all, errs = append(all, docs...), append(errs, err)
		}
	}
	return all, errors.Join(errs...)
}

func parseFile(path string) ([]*Document, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parseAll(path, file)
}

// parseAll reads the documents of one file, whose name is place.
func parseAll(place string, in io.Reader) ([]*Document, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: it has more than %d MiB, and isn't read", place, maxFile>>20)
	}
	return Parse(place, text)
}

// expand returns a file, or those of a directory in the order of their names.
func expand(name string, recursive bool) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var files []string
	var odd []error
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != name && !recursive:
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
			// Reading anything else, such as a named pipe, may never end. Who names one wants it read.
			if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
				odd = append(odd, fmt.Errorf("%s: it isn't a file, and isn't read (%s)", path, info.Mode().Type()))
				return nil
			}
			files = append(files, path)
		}
		return nil
	})
	if err == nil && len(files) == 0 && len(odd) == 0 {
		err = fmt.Errorf("%s: no .json, .yaml or .yml files in this directory", name)
		if !recursive {
			err = fmt.Errorf("%w; -R looks below it too", err)
		}
	}
	return files, errors.Join(append(odd, err)...)
}
