package connect

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/tools/clientcmd"

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

// searched lists the files that a kubeconfig without a cluster was read from.
func searched() string {
	from := ""
	if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		from = clientcmd.RecommendedConfigPathEnvVar + "="
	}
	all := []string{"the flag --kubeconfig"}
	for _, file := range clientcmd.NewDefaultClientConfigLoadingRules().Precedence {
		text := from + file
		if _, err := os.Stat(file); err != nil {
			text += " (not found)"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
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
		return fmt.Errorf("no kubeconfig names a cluster: searched %s; name a kubeconfig by --kubeconfig or the variable KUBECONFIG (%w)",
			searched(), err)
	case utilnet.IsConnectionRefused(err):
		return fmt.Errorf("%w: no API server answers there", err)
	case errors.As(err, &noKind) && noKind.GroupKind.Group == v1alpha1.GroupVersion.Group, len(asked) > 0 && ours[strings.ToLower(asked[1])]:
		return fmt.Errorf("%w: the cluster doesn't have Armature's kinds; armature install installs them", err)
	default:
		return err
	}
}
