package pods

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
)

// mount is a container path and what it shows.
type mount struct{ at, target string }

// mounts are the container's volume mounts, with the volumes' paths.
func (c *container) mounts(vars []podenv.Var, base map[string]string) ([]mount, error) {
	var mounts []mount
	for _, m := range c.spec.VolumeMounts {
		target := c.pod.volumes.Path(m.Name)
		if target == "" {
			return nil, fmt.Errorf("volumeMount %s: the pod has no volume %q", m.MountPath, m.Name)
		}
		sub := m.SubPath
		if m.SubPathExpr != "" {
			var err error
			if sub, err = podenv.ExpandStrict(m.SubPathExpr, vars, base); err != nil {
				return nil, fmt.Errorf("volumeMount %s: subPathExpr %w", m.MountPath, err)
			}
		}
		if sub != "" {
			if !filepath.IsLocal(sub) {
				return nil, fmt.Errorf("volumeMount %s: subPath %q leaves the volume", m.MountPath, sub)
			}
			target = filepath.Join(target, sub)
			if _, err := os.Stat(target); os.IsNotExist(err) {
				if err := os.MkdirAll(target, 0o755); err != nil {
					return nil, fmt.Errorf("volumeMount %s: %w", m.MountPath, err)
				}
			}
		}
		mounts = append(mounts, mount{at: path.Clean("/" + m.MountPath), target: target})
	}
	return mounts, nil
}

// link makes every mount reachable below the root, as a symbolic link, and
// returns what the container paths are rewritten to: the targets themselves, since
// programs like find and tar treat a link unlike the directory it leads to.
//
// A mount inside another one would have its link in that volume, which may be
// shared with others or full of files. The link is made if nothing is in the way.
func link(root string, mounts []mount) (map[string]string, error) {
	mounts = slices.Clone(mounts)
	slices.SortStableFunc(mounts, func(a, b mount) int { return cmp.Compare(len(a.at), len(b.at)) })
	paths := map[string]string{}
	for i, m := range mounts {
		if m.at == "/" {
			return nil, fmt.Errorf("volumeMount /: a volume cannot take the place of the container's root directory on a local node")
		}
		nested := slices.ContainsFunc(mounts[:i], func(outer mount) bool { return strings.HasPrefix(m.at, outer.at+"/") })
		if err := symlink(m.target, filepath.Join(root, m.at)); err != nil && !nested {
			return nil, fmt.Errorf("volumeMount %s: %w", m.at, err)
		}
		paths[m.at] = m.target
	}
	return paths, nil
}

// symlink makes a link in place of nothing, of another link or of an empty directory.
func symlink(target, at string) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if info, err := os.Lstat(at); err == nil && (info.IsDir() || info.Mode()&os.ModeSymlink != 0) {
		if err := os.Remove(at); err != nil {
			return err
		}
	}
	return os.Symlink(target, at)
}
