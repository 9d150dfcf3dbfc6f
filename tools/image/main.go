// Image builds a container image of one Go command for several platforms, without a container engine, and writes it as
// an OCI archive:
//
//	go run . -source DIR -package ./cmd/armature -name armature -version v1.2.3 -revision SHA -created 1790000000 -output FILE
//
// The image holds the static binary, which runs as a user without rights, and lists the Go modules in it as a CycloneDX
// document at /usr/share/sbom/<command>.cdx.json. The same arguments, sources and Go toolchain give the same archive,
// byte by byte.
//
// With -directory instead of -package, the image holds the files of a directory, for tests that need a shell:
//
//	go run . -directory DIR -name busybox -version 1.28 -platforms linux/amd64 -output FILE
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// request is what to build.
type request struct {
	source    string
	pkg       string
	directory string // instead of pkg
	name      string
	version   string
	revision  string
	created   time.Time
	platforms []v1.Platform
	output    string
}

// command is the name of the binary: that of the package's directory, or of the image if the package is the module's root.
func (r request) command() string {
	if path.Clean(r.pkg) == "." {
		return path.Base(r.name)
	}
	return path.Base(r.pkg)
}

// reference names the image in the archive.
func (r request) reference() string { return r.name + ":" + strings.ReplaceAll(r.version, "+", "-") }

// fullReference is what the name means to those who pull it: the kubelet looks for armature:1 as docker.io/library/armature:1,
// and containerd has the image by the very name that the archive gives it.
func (r request) fullReference() string {
	host, _, found := strings.Cut(r.name, "/")
	switch {
	case !found:
		return "docker.io/library/" + r.reference()
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		return "docker.io/" + r.reference()
	}
	return r.reference()
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	r, err := parse(args)
	if err != nil {
		return err
	}
	index, err := makeIndex(r)
	if err != nil {
		return err
	}
	if err := writeArchive(r, index); err != nil {
		return fmt.Errorf("write %s: %w", r.output, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s, %s\n", r.output, r.reference(), digest)
	return nil
}

func parse(args []string) (request, error) {
	var r request
	var platforms string
	var created int64
	f := flag.NewFlagSet("image", flag.ContinueOnError)
	f.StringVar(&r.source, "source", ".", "`directory` of the Go module")
	f.StringVar(&r.pkg, "package", "", "`package` of the command, in the module")
	f.StringVar(&r.directory, "directory", "", "`directory` whose files are the image, instead of a command")
	f.StringVar(&r.name, "name", "", "`name` of the image, without a tag")
	f.StringVar(&r.version, "version", "", "`version`, which is also the tag")
	f.StringVar(&r.revision, "revision", "", "`commit` that is built")
	f.Int64Var(&created, "created", 0, "time of the commit, in `seconds` since 1970; all files have it")
	f.StringVar(&platforms, "platforms", "linux/amd64,linux/arm64", "`os/architecture` of each image")
	f.StringVar(&r.output, "output", "", "`file` to write")
	if err := f.Parse(args); err != nil {
		return r, err
	}
	if (r.pkg == "") == (r.directory == "") {
		return r, errors.New("one of -package and -directory is required")
	}
	for name, value := range map[string]string{"name": r.name, "version": r.version, "output": r.output} {
		if value == "" {
			return r, fmt.Errorf("-%s is required", name)
		}
	}
	r.created = time.Unix(created, 0).UTC()
	for p := range strings.SplitSeq(platforms, ",") {
		platform, err := v1.ParsePlatform(p)
		if err != nil || platform.OS == "" || platform.Architecture == "" {
			return r, fmt.Errorf("-platforms: %q is not an os/architecture such as linux/arm64", p)
		}
		r.platforms = append(r.platforms, *platform)
	}
	return r, nil
}
