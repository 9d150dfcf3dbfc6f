package minicluster

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldens are the clusters whose rendering is kept in testdata.
var goldens = map[string]*v1alpha1.MiniCluster{
	"smallest": makeCluster(1),
	"elastic": makeCluster(2, func(c *v1alpha1.MiniCluster) {
		c.Spec.MinSize, c.Spec.MaxSize, c.Spec.Tasks = 1, 8, ptr.To[int32](4)
	}),
	"gpus": makeCluster(4, func(c *v1alpha1.MiniCluster) {
		c.Spec.Tasks = ptr.To[int32](32)
		c.Spec.Containers[0].Resources.Limits = corev1.ResourceList{
			"cpu": resource.MustParse("8"), "memory": resource.MustParse("16Gi"), "nvidia.com/gpu": resource.MustParse("2"),
		}
	}),
	"launcher": makeCluster(2, fluxInImage, running("nextflow run main.nf"), func(c *v1alpha1.MiniCluster) {
		c.Spec.Containers[0].Launcher = true
		c.Spec.Containers[0].Commands.Prefix = "strace -f"
	}),
	"batch": makeCluster(2, running("# two jobs\necho hello\n\n-N2 -n2 lmp -in \"in put\"\n"), func(c *v1alpha1.MiniCluster) {
		c.Spec.Containers[0].Batch = true
		c.Spec.Containers[0].Logs = "/data/logs"
		c.Spec.Flux.OptionFlags = "-ompi=openmpi"
	}),
	"batch-raw": makeCluster(2, running("flux submit hostname\nflux submit -n2 uptime\n"), func(c *v1alpha1.MiniCluster) {
		c.Spec.Containers[0].Batch, c.Spec.Containers[0].BatchRaw = true, true
	}),
	"interactive": makeCluster(3, running("")),
	"plain":       makeCluster(3, plain, running("mpirun --hosts $(hosts) app")),
	"everything":  everything(),
}

// everything is a cluster that uses as many fields as go together.
func everything() *v1alpha1.MiniCluster {
	c := makeCluster(4, backoffLimit(2), queued)
	c.Spec.MinSize, c.Spec.MaxSize, c.Spec.Tasks = 2, 6, ptr.To[int32](8)
	c.Spec.DeadlineSeconds = ptr.To[int64](600)
	c.Spec.JobLabels = map[string]string{"team": "physics"}
	c.Spec.ShareProcessNamespace = true
	c.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "nic", ResourceClaimTemplateName: new("nic")}}
	c.Spec.Archive.Path = "/data/archive.tar"
	c.Spec.Logging = v1alpha1.MiniClusterLogging{Strict: true, Debug: true, Zeromq: true, Timed: true}
	c.Spec.Network = v1alpha1.MiniClusterNetwork{HeadlessName: "hosts", Interface: "ib0", Domain: "example.org"}
	c.Spec.Pod = v1alpha1.MiniClusterPod{
		Annotations: map[string]string{"note": "it's one"}, Labels: map[string]string{"tier": "batch"},
		ServiceAccountName: "runner", AutomountServiceAccountToken: new(false), SchedulerName: "fluence", RuntimeClassName: "gvisor",
		NodeSelector: map[string]string{"disk": "ssd"}, NodeAffinity: map[string][]string{"zone": {"a", "b"}},
		Tolerations: []corev1.Toleration{{Key: "hpc", Operator: corev1.TolerationOpExists}},
		DNSPolicy:   corev1.DNSClusterFirstWithHostNet, HostIPC: true, HostPID: true,
		Resources:       corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi")},
		SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](1000)},
	}
	c.Spec.Flux = v1alpha1.MiniClusterFlux{
		OptionFlags: "-ompi=none --setattr='user.study=a b'", SubmitCommand: "flux run", Wrap: "strace,-e,network",
		ConnectTimeout: "20s", LogLevel: ptr.To[int32](7), Topology: "kary:2", Environment: map[string]string{"FLUX_A": "1", "OWN": "flux"},
		Scheduler: v1alpha1.MiniClusterScheduler{QueuePolicy: "easy"}, CompleteWorkers: true,
		Container: v1alpha1.MiniClusterFluxContainer{
			Image: "views:1", Name: "view", MountPath: "/opt/flux", WorkingDir: "/tmp", PythonPath: "/py", ImagePullSecret: "views", PullAlways: true,
			Resources:       corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}},
			SecurityContext: &corev1.SecurityContext{RunAsUser: ptr.To[int64](0)},
		},
	}
	c.Spec.Containers = []v1alpha1.MiniClusterContainer{
		{Name: "proxy", Image: "proxy:2", Command: "proxy --listen :9000", Commands: v1alpha1.MiniClusterCommands{ServicePre: "echo up"}},
		{
			Name: "app", Image: "lammps:1", RunFlux: true, WorkingDir: "/data", ImagePullSecret: "apps", ImagePullPolicy: corev1.PullNever,
			Environment: map[string]string{"OWN": "app", "QUOTED": `it's "$(quoted)"`}, Ports: []int32{9001},
			Secrets: map[string]v1alpha1.MiniClusterSecret{"TOKEN": {Name: "tokens", Key: "app"}},
			Volumes: map[string]v1alpha1.MiniClusterVolume{
				"data":    {ClaimName: "data", Path: "/data"},
				"scratch": {EmptyDir: true, EmptyDirMedium: "Memory", EmptyDirSizeLimit: "1Gi", Path: "/scratch"},
				"inputs":  {ConfigMapName: "inputs", Items: map[string]string{"b": "b.in", "a": "a.in"}, ReadOnly: true},
				"host":    {HostPath: "/etc/hosts", Path: "/host"},
				"bucket":  {CSIDriver: "gcs", CSIDriverAttributes: map[string]string{"name": "b"}, Path: "/bucket"},
			},
			Commands: v1alpha1.MiniClusterCommands{
				Init: "echo init", Pre: "export A=1", BrokerPre: "echo broker", WorkerPre: "echo worker", Post: "echo post",
				Prefix: "nice", Script: "#!/bin/bash\nset -e\nlmp\n",
			},
			LifeCycle:       v1alpha1.MiniClusterLifeCycle{PostStartExec: "echo started", PreStopExec: "echo stopping"},
			Resources:       corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2500m")}},
			SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
		},
	}
	c.Spec.Services = []v1alpha1.MiniClusterContainer{
		{Name: "registry", Image: "registry:2", Ports: []int32{5000}, PullAlways: true},
		{Name: "db", Image: "db:1", Command: "db run", NoWrapEntrypoint: true},
	}
	return c
}

func TestGoldens(t *testing.T) {
	for name, c := range goldens {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, validate(c))
			files := map[string]string{settingsKey: settings(c)}
			for key, text := range scripts(c) {
				if key == runKey {
					files[key] = text
				}
			}
			if !c.Spec.Flux.Disable {
				files[brokerKey] = brokerConfig(c)
			}
			files["service.yaml"] = inYAML(t, headlessService(c))
			files["job.yaml"] = inYAML(t, render(c, noon))
			if len(c.Spec.Services) > 0 {
				files["services.yaml"] = inYAML(t, services(c))
			}
			dir := filepath.Join("testdata", "golden", name)
			if *update {
				require.NoError(t, os.RemoveAll(dir))
				require.NoError(t, os.MkdirAll(dir, 0o755))
				for file, text := range files {
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
				}
			}
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, entries, len(files), "files in %s; go test -update writes them anew", dir)
			for file, text := range files {
				want, err := os.ReadFile(filepath.Join(dir, file))
				require.NoError(t, err)
				assert.Equal(t, string(want), text, file)
			}
		})
	}
}

func inYAML(t *testing.T, v any) string {
	text, err := yaml.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
