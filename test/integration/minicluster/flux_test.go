package minicluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// standInDir is where the program is that stands in for flux, if a test has needed it. TestMain removes it.
var standInDir string

var buildStandIn = sync.OnceValue(func() (err error) {
	if standInDir, err = os.MkdirTemp("", "minicluster-flux-"); err != nil {
		return err
	}
	out, err := exec.Command("go", "build", "-o", standInDir, "./internal/flux").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the stand-in of flux: %w: %s", err, out)
	}
	return nil
})

// withFlux lets a cluster run on brokers: of the stand-in.
func withFlux(t *testing.T, change ...func(*v1alpha1.MiniCluster)) func(*v1alpha1.MiniCluster) {
	meeting := t.TempDir()
	require.NoError(t, buildStandIn())
	return func(c *v1alpha1.MiniCluster) {
		c.Spec.Flux = v1alpha1.MiniClusterFlux{
			Container:   v1alpha1.MiniClusterFluxContainer{Disable: true},
			Environment: map[string]string{"PATH": standInDir + ":" + os.Getenv("PATH"), "STANDIN": meeting},
		}
		for _, f := range change {
			f(c)
		}
	}
}

func TestBrokersRunTheCommand(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("mpi", 3, `echo "task $FLUX_TASK_RANK of $MINICLUSTER_TASKS on $MINICLUSTER_NAME"; while [ ! -e "$STANDIN/go" ]; do sleep 0.1; done`,
		withFlux(t, func(c *v1alpha1.MiniCluster) { c.Spec.Tasks = ptr.To[int32](2) }))
	c := p.wait("mpi", "the broker and all pods are ready", func(c *v1alpha1.MiniCluster) bool {
		return isTrue(c, v1alpha1.MiniClusterBrokerReady) && isTrue(c, v1alpha1.MiniClusterPodsReady) && isTrue(c, v1alpha1.MiniClusterRunning)
	})
	var secret corev1.Secret
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "mpi-curve"}, &secret))
	key := strings.Split(string(secret.Data["curve.cert"]), `secret-key = "`)[1][:40]
	var maps corev1.ConfigMapList
	require.NoError(t, p.Client.List(t.Context(), &maps, client.InNamespace(p.Namespace)))
	for i := range maps.Items {
		for _, text := range maps.Items[i].Data {
			assert.NotContains(t, text, key)
		}
	}

	meeting := c.Spec.Flux.Environment["STANDIN"]
	require.NoError(t, os.WriteFile(filepath.Join(meeting, "go"), nil, 0o644))
	c = p.waitState("mpi", v1alpha1.MiniClusterStateSucceeded)
	assert.Equal(t, ptr.To[int32](0), c.Status.ExitCode)
	assert.Contains(t, p.logs("mpi"), "task 0 of 2 on mpi\n")
	assert.Contains(t, p.logs("mpi"), "task 1 of 2 on mpi")
	assert.NotContains(t, p.logs("mpi"), key)
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(&secret), &secret))
	assert.Contains(t, string(secret.Data["curve.cert"]), key, "it is made once")
}

func TestAFailedJobFailsTheCluster(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("broken", 2, "exit 6", withFlux(t))
	c := p.waitState("broken", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, ptr.To[int32](6), c.Status.ExitCode)
}

func TestTheQuorumIsEnough(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("quorum", 3, "sleep 600", withFlux(t, func(c *v1alpha1.MiniCluster) {
		c.Spec.MinSize = 2
		c.Spec.Containers[0].Commands.WorkerPre = `[ "$JOB_COMPLETION_INDEX" != 2 ] || while [ ! -e "$STANDIN/go" ]; do sleep 0.1; done`
	}))
	c := p.wait("quorum", "two brokers are enough", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterBrokerReady) })
	assert.False(t, isTrue(c, v1alpha1.MiniClusterPodsReady))
	require.NoError(t, os.WriteFile(filepath.Join(c.Spec.Flux.Environment["STANDIN"], "go"), nil, 0o644))
	p.wait("quorum", "the third one joins", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
}

// The brokers of a cluster that has not begun its work would wait for ever for ranks that were scaled away.
func TestTheQuorumStaysUntilTheWorkBegins(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("joining", 3, "sleep 600", withFlux(t, func(c *v1alpha1.MiniCluster) {
		c.Spec.Containers[0].Commands.WorkerPre = `[ "$JOB_COMPLETION_INDEX" != 2 ] || while [ ! -e "$STANDIN/go" ]; do sleep 0.1; done`
	}))
	c := p.waitState("joining", v1alpha1.MiniClusterStateStarting)
	out, err := p.Kubectl("scale", "minicluster/joining", "--replicas=2")
	assert.Error(t, err)
	assert.Contains(t, out, "brokers wait for the quorum")
	p.change("joining", func(s *v1alpha1.MiniClusterSpec) { s.Suspend = true })
	p.waitState("joining", v1alpha1.MiniClusterStateSuspended)
	p.change("joining", func(s *v1alpha1.MiniClusterSpec) { s.Suspend, s.Size, s.MaxSize = false, 2, 3 })
	p.wait("joining", "two are enough", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	require.NoError(t, os.WriteFile(filepath.Join(c.Spec.Flux.Environment["STANDIN"], "go"), nil, 0o644))
	out, err = p.Kubectl("scale", "minicluster/joining", "--replicas=1")
	assert.NoError(t, err, out, "it runs")
}

func TestAnInteractiveClusterWaits(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("login", 2, "", withFlux(t, func(c *v1alpha1.MiniCluster) { c.Spec.Interactive = true }))
	c := p.wait("login", "it waits", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterRunning) })
	const view = ". /mnt/flux/flux-view.sh && "
	out, err := p.Kubectl("exec", c.Status.Leader.Pod, "--", "sh", "-c", view+"echo $FLUX_URI")
	require.NoError(t, err, out)
	assert.Contains(t, out, "local:///")
	out, err = p.Kubectl("exec", c.Status.Leader.Pod, "--", "sh", "-c", view+"flux shutdown")
	t.Log("shutdown, which may end with the container that it ends:", out, err)
	p.waitState("login", v1alpha1.MiniClusterStateSucceeded)
}

func TestBatch(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("batch", 2, "# jobs\nsh -c 'echo one'\n-n 2 sh -c 'echo two'\n", withFlux(t, func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Batch = true }))
	p.waitState("batch", v1alpha1.MiniClusterStateSucceeded)
	p.create("bad", 1, "true\nfalse\ntrue\n", withFlux(t, func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Batch = true }))
	c := p.waitState("bad", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, ptr.To[int32](1), c.Status.ExitCode)
}

func TestSidecarsAndServices(t *testing.T) {
	p := newPlace(t)
	p.manage()
	dir := t.TempDir()
	p.create("beside", 1, "while [ ! -e "+dir+"/service ] || [ ! -s "+dir+"/sidecar ]; do sleep 0.1; done; cat "+dir+"/sidecar", func(c *v1alpha1.MiniCluster) {
		c.Spec.Containers[0].RunFlux = true
		c.Spec.Containers = append(c.Spec.Containers, v1alpha1.MiniClusterContainer{
			Name: "helper", Image: "busybox:1.28", Command: `echo "$A" >` + dir + `/sidecar; exec sleep 600`,
			Commands: v1alpha1.MiniClusterCommands{ServicePre: "export A=prepared"},
		})
		c.Spec.Services = []v1alpha1.MiniClusterContainer{{Name: "db", Image: "busybox:1.28", Command: "touch " + dir + "/service; exec sleep 600"}}
	})
	p.waitState("beside", v1alpha1.MiniClusterStateSucceeded) // though the sidecar goes on
	assert.Contains(t, p.logs("beside"), "prepared")
	p.Eventually("the services are gone", func() bool {
		var pods corev1.PodList
		require.NoError(t, p.Client.List(t.Context(), &pods, client.InNamespace(p.Namespace), client.MatchingLabels{"api.practice.com/role": "services"}))
		return len(pods.Items) == 0
	})
}

func TestAUserOtherThanRoot(t *testing.T) {
	p := newPlace(t)
	p.create("user", 1, "true", func(c *v1alpha1.MiniCluster) {
		c.Spec.Suspend = true
		c.Spec.Pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](1000)}
		c.Spec.Flux.Disable = false
	})
	p.manage()
	p.waitState("user", v1alpha1.MiniClusterStateSuspended)
	p.change("user", func(s *v1alpha1.MiniClusterSpec) { s.Suspend = false })
	p.Eventually("there is a Job", func() bool { return p.job("user") != nil })
	spec := p.job("user").Spec.Template.Spec
	assert.Equal(t, ptr.To[int64](1000), spec.SecurityContext.FSGroup, "else it couldn't read the certificate")
	for _, v := range spec.Volumes {
		if v.Secret != nil {
			assert.Equal(t, ptr.To[int32](0o400), v.Secret.DefaultMode)
		}
	}
	require.NoError(t, p.Client.Delete(t.Context(), &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "user"}}))
	p.Eventually("all goes with it", func() bool { return p.job("user") == nil })
}
