package minicluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/message"
)

func TestValidate(t *testing.T) {
	type spec = v1alpha1.MiniClusterSpec
	type container = v1alpha1.MiniClusterContainer
	first := func(change func(*container)) func(*spec) { return func(s *spec) { change(&s.Containers[0]) } }
	beside := func(change func(*container)) func(*spec) {
		return func(s *spec) {
			s.Containers[0].RunFlux = true
			side := container{Name: "side", Image: "side", Command: "side"}
			change(&side)
			s.Containers = append(s.Containers, side)
		}
	}
	volume := func(v v1alpha1.MiniClusterVolume) func(*spec) {
		return first(func(c *container) { c.Volumes = map[string]v1alpha1.MiniClusterVolume{"v": v} })
	}
	disabled := func(change func(*spec)) func(*spec) {
		return func(s *spec) { s.Flux.Disable = true; change(s) }
	}
	tests := map[string]struct {
		change func(*spec)
		want   string // empty: valid
	}{
		"as it is":     {func(*spec) {}, ""},
		"a long batch": {first(func(c *container) { c.Batch, c.Command = true, strings.Repeat("hostname\n", 5000) }), ""},
		"too long a batch": {
			first(func(c *container) { c.Batch, c.Command = true, strings.Repeat("hostname\n", 6000) }),
			"spec.containers: Forbidden: the commands and the scripts that run them have 11",
		},
		"no container": {func(s *spec) { s.Containers = nil }, "spec.containers: Required value"},
		"two runners": {func(s *spec) {
			s.Containers = []container{{Image: "a", RunFlux: true}, {Image: "b", RunFlux: true}}
		}, "spec.containers: Invalid value: 2: with several containers exactly one"},
		"no runner":   {func(s *spec) { s.Containers = []container{{Image: "a"}, {Image: "b"}} }, "spec.containers: Invalid value: 0"},
		"negative":    {func(s *spec) { s.Size = -1 }, "spec.size: Invalid value: -1: must be at least 1"},
		"too small":   {func(s *spec) { s.MinSize = 9 }, "spec.size: Invalid value: 4: must be at least minSize, 9"},
		"too big":     {func(s *spec) { s.MaxSize = 3 }, "spec.size: Invalid value: 4: must be at most 3, maxSize"},
		"no deadline": {func(s *spec) { s.DeadlineSeconds = ptr.To[int64](0) }, "spec.deadlineSeconds: Invalid value: 0"},
		"tasks":       {func(s *spec) { s.Tasks = ptr.To[int32](-1) }, "spec.tasks: Invalid value: -1"},
		"labels":      {func(s *spec) { s.JobLabels = map[string]string{"a b": "c"} }, "spec.jobLabels: Invalid value"},
		"pod labels":  {func(s *spec) { s.Pod.Labels = map[string]string{"a": "b c"} }, "spec.pod.labels: Invalid value"},
		"the UID":     {func(s *spec) { s.JobLabels = map[string]string{LabelUID: "x"} }, "spec.jobLabels[api.practice.com/minicluster-uid]: Forbidden: it is set by"},
		"the Job's":   {func(s *spec) { s.Pod.Labels = map[string]string{"batch.kubernetes.io/job-name": "x"} }, "spec.pod.labels[batch.kubernetes.io/job-name]: Forbidden"},
		"Kueue's":     {func(s *spec) { s.JobLabels = map[string]string{v1alpha1.LabelKueueQueue: "x"} }, ""},
		"Flux's":      {func(s *spec) { s.Flux.Environment = map[string]string{"A=B": "x"} }, "spec.flux.environment[A=B]: Invalid value"},
		"own files":   {func(s *spec) { s.Flux.Container.MountPath = "/minicluster" }, `spec.flux.container.mountPath: Invalid value: "/minicluster"`},
		"beside them": {func(s *spec) { s.Flux.Container.MountPath = "/minicluster2" }, ""},
		"restarts":    {func(s *spec) { s.Pod.RestartPolicy = "Always" }, `spec.pod.restartPolicy: Unsupported value: "Always"`},
		"pod cpu":     {func(s *spec) { s.Pod.Resources = corev1.ResourceList{"cpu": resource.MustParse("1")} }, ""},
		"pod gpu":     {func(s *spec) { s.Pod.Resources = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")} }, "spec.pod.resources[nvidia.com/gpu]: Unsupported value"},
		"environment": {first(func(c *container) { c.Environment = map[string]string{"": "x"} }), "spec.containers[0].environment[]: Invalid value"},
		"set twice": {first(func(c *container) {
			c.Environment, c.Secrets = map[string]string{"A": "x"}, map[string]v1alpha1.MiniClusterSecret{"A": {Name: "s", Key: "k"}}
		}), "spec.containers[0].secrets[A]: Duplicate value"},

		"same name":            {beside(func(c *container) { c.Name = "demo" }), `spec.containers[1].name: Duplicate value: "demo"`},
		"the view's name":      {beside(func(c *container) { c.Name = "flux-view" }), `spec.containers[1].name: Duplicate value`},
		"sidecar":              {beside(func(c *container) { c.Commands.ServicePre = "true" }), ""},
		"sidecar's batch":      {beside(func(c *container) { c.Batch = true }), "spec.containers[1].batch: Forbidden: it is for the container that does the work"},
		"sidecar's pre":        {beside(func(c *container) { c.Commands.Pre = "x" }), "spec.containers[1].commands.pre: Forbidden"},
		"sidecar's nothing":    {beside(func(c *container) { c.Command, c.Commands.ServicePre = "", "x" }), "spec.containers[1].commands.servicePre: Forbidden: it is run before a command"},
		"a service that works": {func(s *spec) { s.Services = []container{{Name: "db", Image: "db", RunFlux: true}} }, "spec.services[0].runFlux: Forbidden"},
		"a hidden service": {func(s *spec) {
			s.Services, s.Flux.MinimalService = []container{{Name: "db", Image: "db"}}, true
		}, "spec.flux.minimalService: Forbidden: only the leader would have a DNS name"},

		"unwrapped work":     {first(func(c *container) { c.NoWrapEntrypoint = true }), "spec.containers[0].noWrapEntrypoint: Forbidden"},
		"servicePre":         {first(func(c *container) { c.Commands.ServicePre = "x" }), "spec.containers[0].commands.servicePre: Forbidden"},
		"logs without batch": {first(func(c *container) { c.Logs = "/x" }), "spec.containers[0].logs: Forbidden"},
		"batch of comments":  {first(func(c *container) { c.Batch, c.Command = true, "# a\n \n" }), "spec.containers[0].command: Required value: a batch needs at least one line"},
		"batch and script":   {first(func(c *container) { c.Batch, c.Commands.Script = true, "x" }), "spec.containers[0].commands.script: Forbidden"},
		"launcher and batch": {first(func(c *container) { c.Batch, c.Launcher = true, true }), "spec.containers[0].batch: Forbidden"},
		"batchRaw":           {first(func(c *container) { c.BatchRaw = true }), "spec.containers[0].batch: Required value"},
		"launcher's flags": {func(s *spec) {
			s.Containers[0].Launcher, s.Flux.OptionFlags = true, "-o x"
		}, "spec.flux.optionFlags: Forbidden: they have no effect with launcher"},
		"batch's submit": {func(s *spec) {
			s.Containers[0].Batch, s.Flux.SubmitCommand = true, "flux run"
		}, "spec.flux.submitCommand: Forbidden"},
		"interactive":         {func(s *spec) { s.Interactive, s.Containers[0].Command = true, "" }, ""},
		"interactive command": {func(s *spec) { s.Interactive = true }, ""},
		"interactive batch": {func(s *spec) {
			s.Interactive, s.Flux.OptionFlags = true, "-o x"
			s.Containers[0].Batch, s.Containers[0].Logs = true, "/x"
		}, ""},
		"interactive launcher": {first(func(c *container) { c.Command, c.Launcher = "", true }), "spec.containers[0].launcher: Forbidden"},
		"flags of two lines":   {func(s *spec) { s.Flux.OptionFlags = "-o a\n-o b" }, "spec.flux.optionFlags: Invalid value"},
		"prefix of two lines":  {first(func(c *container) { c.Commands.Prefix = "a\nb" }), "spec.containers[0].commands.prefix: Invalid value"},
		"no view's image":      {func(s *spec) { s.Flux.Container.Disable, s.Flux.Container.Image = true, "x" }, ""},

		"as many tasks as cores": {func(s *spec) { s.Tasks, s.Containers[0].Resources.Limits = ptr.To[int32](8), cpus("2500m") }, ""},
		"more tasks than cores": {func(s *spec) { s.Tasks, s.Containers[0].Resources.Limits = ptr.To[int32](9), cpus("2500m") },
			"spec.tasks: Invalid value: 9: must be at most 8: Flux believes each of 4 nodes to have 2 cores"},
		"no limit of cores": {func(s *spec) { s.Tasks = ptr.To[int32](99) }, ""},
		"flags of one's own": {func(s *spec) {
			s.Tasks, s.Containers[0].Resources.Limits, s.Flux.OptionFlags = ptr.To[int32](9), cpus("2"), "-n 2"
		}, ""},
		"tasks of a launcher": {func(s *spec) {
			s.Tasks, s.Containers[0].Resources.Limits, s.Containers[0].Launcher = ptr.To[int32](9), cpus("2"), true
		}, ""},
		"tasks without Flux": {disabled(func(s *spec) { s.Tasks, s.Containers[0].Resources.Limits = ptr.To[int32](9), cpus("2") }), ""},

		"disabled":             {disabled(func(*spec) {}), ""},
		"disabled with flags":  {disabled(func(s *spec) { s.Flux.OptionFlags = "-o x" }), "spec.flux.optionFlags: Forbidden: Flux is disabled"},
		"disabled with quorum": {disabled(func(s *spec) { s.MinSize = 1 }), "spec.minSize: Forbidden: Flux is disabled"},
		"disabled with batch":  {disabled(first(func(c *container) { c.Batch = true })), "spec.containers[0].batch: Forbidden: Flux is disabled"},
		"disabled, no command": {disabled(first(func(c *container) { c.Command = "" })), "spec.containers[0].command: Required value"},
		"disabled, a launcher": {disabled(first(func(c *container) { c.Launcher = true })), ""},

		"no source":      {volume(v1alpha1.MiniClusterVolume{Path: "/v"}), "spec.containers[0].volumes[v]: Invalid value: 0: exactly one of"},
		"two sources":    {volume(v1alpha1.MiniClusterVolume{Path: "/v", HostPath: "/", ClaimName: "c"}), "exactly one of"},
		"no path":        {volume(v1alpha1.MiniClusterVolume{ClaimName: "c"}), "spec.containers[0].volumes[v].path: Required value"},
		"default path":   {volume(v1alpha1.MiniClusterVolume{SecretName: "s"}), ""},
		"taken path":     {volume(v1alpha1.MiniClusterVolume{SecretName: "s", Path: "/mnt/flux"}), `spec.containers[0].volumes[v].path: Duplicate value: "/mnt/flux"`},
		"items of claim": {volume(v1alpha1.MiniClusterVolume{ClaimName: "c", Path: "/v", Items: map[string]string{"a": "b"}}), "volumes[v].items: Forbidden"},
		"no size":        {volume(v1alpha1.MiniClusterVolume{EmptyDir: true, Path: "/v", EmptyDirSizeLimit: "big"}), "emptyDirSizeLimit: Invalid value"},
		"size of claim":  {volume(v1alpha1.MiniClusterVolume{ClaimName: "c", Path: "/v", EmptyDirSizeLimit: "1Gi"}), "emptyDirSizeLimit: Forbidden"},
		"attributes":     {volume(v1alpha1.MiniClusterVolume{ClaimName: "c", Path: "/v", CSIDriverAttributes: map[string]string{"a": "b"}}), "csiDriverAttributes: Forbidden"},
		"shared": {func(s *spec) {
			beside(func(c *container) {
				c.Volumes = map[string]v1alpha1.MiniClusterVolume{"v": {ClaimName: "c", Path: "/elsewhere"}}
			})(s)
			volume(v1alpha1.MiniClusterVolume{ClaimName: "c", Path: "/v"})(s)
		}, ""},
		"something else of that name": {func(s *spec) {
			beside(func(c *container) {
				c.Volumes = map[string]v1alpha1.MiniClusterVolume{"v": {ClaimName: "d", Path: "/v"}}
			})(s)
			volume(v1alpha1.MiniClusterVolume{ClaimName: "c", Path: "/v"})(s)
		}, "spec.containers[1].volumes[v]: Invalid value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := makeCluster(4, func(c *v1alpha1.MiniCluster) { tt.change(&c.Spec) })
			errs := validate(c)
			if tt.want == "" {
				assert.Empty(t, errs)
				return
			}
			var texts []string
			for _, err := range errs {
				texts = append(texts, err.Error())
			}
			assert.Contains(t, strings.Join(texts, "\n"), tt.want)

			// Nothing is created, and one event says why.
			plan := planner.Plan(c, buildertest.NewView(noon))
			assert.Empty(t, plan.Children)
			require.Len(t, plan.Events, 1)
			assert.Equal(t, v1alpha1.ReasonInvalidSpec, plan.Events[0].Reason)
			require.NotNil(t, plan.Status)
			c.Status = plan.Status.Status
			for kind, status := range map[string]metav1.ConditionStatus{
				events.ConditionStalled: metav1.ConditionTrue, v1alpha1.MiniClusterAdmitted: metav1.ConditionFalse,
			} {
				cond := apimeta.FindStatusCondition(c.Status.Conditions, kind)
				require.NotNil(t, cond, kind)
				assert.Equal(t, status, cond.Status, kind)
				assert.Equal(t, v1alpha1.ReasonInvalidSpec, cond.Reason, kind)
				assert.Equal(t, c.Generation, cond.ObservedGeneration, kind)
			}
			again := planner.Plan(c, buildertest.NewView(noon))
			assert.Nil(t, again.Status)
			assert.Empty(t, again.Events)
		})
	}
	for _, name := range []string{"", "a.b", "0a", strings.Repeat("a", 53)} {
		assert.NotEmpty(t, validate(makeCluster(1, func(c *v1alpha1.MiniCluster) { c.Name = name })), name)
	}
}

func cpus(limit string) corev1.ResourceList {
	return corev1.ResourceList{"cpu": resource.MustParse(limit)}
}

// Fields of flux-operator's manifests that are without effect there, too, are accepted and told of.
func TestFieldsThatAreIgnored(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*v1alpha1.MiniClusterSpec)
		told   []string
	}{
		"none": {func(*v1alpha1.MiniClusterSpec) {}, nil},
		"interactive": {func(s *v1alpha1.MiniClusterSpec) {
			s.Interactive, s.Containers[0].Launcher = true, true
		}, []string{"spec.containers[0].command has no effect: the cluster is interactive", "spec.containers[0].launcher has no effect: the cluster is interactive"}},
		"no view": {func(s *v1alpha1.MiniClusterSpec) {
			s.Flux.Container.Disable, s.Flux.Container.Image = true, "x"
		}, []string{"spec.flux.container.image has no effect: there is no init container that brings Flux"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := makeCluster(2, func(c *v1alpha1.MiniCluster) { tt.change(&c.Spec) })
			var told []string
			firstPasses(c, 3, func(view builder.View) builder.Plan[*v1alpha1.MiniCluster] {
				plan := planner.Plan(c, view)
				for _, e := range plan.Events {
					if e.Reason == v1alpha1.ReasonFieldIgnored {
						told = append(told, e.Note)
					}
				}
				return plan
			})
			assert.Equal(t, tt.told, told, "each once")
		})
	}
}

func TestAMessageIsBounded(t *testing.T) {
	c := makeCluster(1, func(c *v1alpha1.MiniCluster) {
		c.Spec.Pod.Labels = map[string]string{}
		for i := range 100 {
			c.Spec.Pod.Labels[strings.Repeat("é", i+1)] = "x"
		}
	})
	plan := planner.Plan(c, buildertest.NewView(noon))
	require.NotNil(t, plan.Status)
	for _, cond := range plan.Status.Status.Conditions {
		assert.LessOrEqual(t, len(cond.Message), message.MaxLength)
		assert.Equal(t, strings.ToValidUTF8(cond.Message, "?"), cond.Message)
	}
}
