package connect

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// unknownKind is what kubectl's own lookup says of a kind that the cluster doesn't have.
var unknownKind = regexp.MustCompile(`the server doesn't have a resource type "([^"]+)"`)

// ours are all names of Armature's kinds, as they may be typed.
var ours = map[string]bool{"jf": true, "dj": true, "rj": true, "fj": true, "mc": true, "fs": true, "jt": true}

func init() {
	for _, kind := range []string{"jobflow", "jobtemplate", "daemonjob", "replicajob", "fluxjob", "fluxsetup", "minicluster"} {
		ours[kind], ours[kind+"s"] = true, true
	}
}

// Advise adds to an error what a person can do about it, if it is one of those that everyone meets: no cluster answers, or it
// doesn't have Armature's kinds.
func Advise(err error) error {
	var noKind *meta.NoKindMatchError
	asked := unknownKind.FindStringSubmatch(fmt.Sprint(err))
	switch {
	case err == nil:
		return nil
	case utilnet.IsConnectionRefused(err) && strings.Contains(err.Error(), "localhost:8080"):
		return fmt.Errorf("%w: no kubeconfig names a cluster; see --kubeconfig, --context and the variable KUBECONFIG", err)
	case utilnet.IsConnectionRefused(err):
		return fmt.Errorf("%w: no API server answers there", err)
	case errors.As(err, &noKind) && noKind.GroupKind.Group == v1alpha1.GroupVersion.Group, len(asked) > 0 && ours[strings.ToLower(asked[1])]:
		return fmt.Errorf("%w: the cluster doesn't have Armature's kinds; armature install installs them", err)
	default:
		return err
	}
}
