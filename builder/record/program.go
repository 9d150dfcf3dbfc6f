package record

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// thisProgram is the build of this process.
var thisProgram = sync.OnceValue(func() Program {
	p := Program{Digest: digestOfExecutable()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return p
	}
	p.Path, p.Version, p.GoVersion = info.Path, info.Main.Version, info.GoVersion
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			p.Revision = s.Value
		case "vcs.modified":
			p.Modified = s.Value == "true"
		}
	}
	return p
})

// digestOfExecutable returns the digest of the running program, empty if it can't be read.
func digestOfExecutable() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path) //nolint:gosec // the path of this program
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
