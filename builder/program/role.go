package program

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/rbac"
)

// role writes the role of the operators.
func (o Options) role(_ context.Context, scheme *runtime.Scheme, args []string, out io.Writer) error {
	flags := flag.NewFlagSet(o.Name+" role", flag.ContinueOnError)
	crds := flags.String("crds", "", "`files` or directories with the CRDs, separated by commas")
	samples := flags.String("samples", "", "`files` or directories with samples of the operators' kinds, separated by commas")
	output := flags.String("output", "", "`file` to write (default: standard output)")
	if err := parse(flags, args); err != nil {
		return err
	}
	owners, err := readOwners(scheme, words(*samples))
	if err != nil {
		return err
	}
	role, err := rbac.Role(rbac.Options{
		Name: o.Name + "-operator", Scheme: scheme, CRDs: words(*crds), Setup: o.Setup, Samples: owners, More: o.Permissions,
	})
	if err != nil {
		return err
	}
	if *output != "" {
		return os.WriteFile(*output, rbac.Marshal(role), 0o644) //nolint:gosec // a file to commit
	}
	_, err = out.Write(rbac.Marshal(role))
	return err
}

func words(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(s string) bool { return s == "" })
}

// readOwners reads the objects of YAML files.
func readOwners(scheme *runtime.Scheme, paths []string) (owners []client.Object, err error) {
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, path := range paths {
		walkErr := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".yaml" {
				return err
			}
			text, err := os.Open(file)
			if err != nil {
				return err
			}
			defer text.Close()
			documents := yaml.NewYAMLReader(bufio.NewReader(text))
			for {
				document, err := documents.Read()
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				obj, _, err := decoder.Decode(document, nil, nil)
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
				owner, ok := obj.(client.Object)
				if !ok {
					return fmt.Errorf("%s: %T is not an object", file, obj)
				}
				owners = append(owners, owner)
			}
		})
		if walkErr != nil {
			return nil, walkErr
		}
	}
	return owners, nil
}
