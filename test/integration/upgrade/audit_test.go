//go:build e2e

package upgrade

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/armature-dev/armature/test/testcluster"
)

// writes are what programs of a name have stored in a namespace since the given number of the log's lines: "patch deployments.apps web",
// "patch miniclusters.api.practice.com/status web". They don't include dry runs and refused requests.
func writes(t *testing.T, namespace, program string, since int) []string {
	t.Helper()
	var all []string
	for _, line := range lines(t)[since:] {
		var event auditv1.Event
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		uri, err := url.Parse(event.RequestURI)
		require.NoError(t, err)
		ref := event.ObjectRef
		if ref == nil || ref.Namespace != namespace || !strings.HasPrefix(event.UserAgent, program+"/") || uri.Query().Has("dryRun") ||
			event.ResponseStatus == nil || event.ResponseStatus.Code >= 300 {
			continue
		}
		resource := ref.Resource
		if ref.APIGroup != "" {
			resource += "." + ref.APIGroup
		}
		if ref.Subresource != "" {
			resource += "/" + ref.Subresource
		}
		name := ref.Name
		all = append(all, event.Verb+" "+resource+" "+name)
	}
	return all
}

// about are the writes to a resource.
func about(writes []string, resource string) []string {
	return slices.DeleteFunc(slices.Clone(writes), func(w string) bool { return strings.Fields(w)[1] != resource })
}

// lines are the lines of the audit log.
func lines(t *testing.T) []string {
	t.Helper()
	file, err := os.Open(filepath.Join(filepath.Dir(testcluster.Kubeconfig(t)), "logs", "audit.log"))
	require.NoError(t, err)
	defer file.Close()
	var all []string
	in := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil { // the last line may be half written
			return all
		}
		all = append(all, line)
	}
}
