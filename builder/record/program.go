package record

import (
	"runtime/debug"
	"sync"

	"github.com/armature-dev/armature/builder/internal/build"
)

// thisProgram is the build of this process.
var thisProgram = sync.OnceValue(func() Program {
	var p Program
	if digest, err := build.Executable(); err == nil {
		p.Digest = "sha256:" + digest
	}
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
