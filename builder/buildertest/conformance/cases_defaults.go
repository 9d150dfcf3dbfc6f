package conformance

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func defaultsOfWorkloads(s *session) {
	s.create("deployment", deployment("small"))
	s.create("full deployment", fullDeployment("full"))
	s.create("stateful set", statefulSet("stateful"))
	s.create("daemon set", daemonSet("daemon"))
	s.create("job", job("once"))
	labelled := job("labelled")
	labelled.Labels = map[string]string{"own": "label"}
	s.create("job with labels", labelled)
	s.create("cron job", cronJob("cron"))
	careful := job("careful")
	careful.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget}},
	}}}
	s.create("job with a failure policy", careful)
	indexed := job("indexed")
	indexed.Spec.CompletionMode, indexed.Spec.Completions = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](3)
	indexed.Spec.BackoffLimitPerIndex = ptr.To[int32](1)
	s.create("indexed job", indexed)
	parallel := job("parallel")
	parallel.Spec.Parallelism = ptr.To[int32](3)
	s.create("job with parallelism and no completions", parallel)
	host := deployment("host")
	host.Spec.Template.Spec.HostNetwork = true
	host.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080}}
	host.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	s.create("deployment on the host's network, recreated", host)
	manual := statefulSet("manual")
	manual.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
	s.create("stateful set updated by hand", manual)
	limited := pod("limited")
	limited.Spec.Containers[0].Resources.Limits = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("10Mi"),
	}
	s.create("pod", limited)
}

func defaultsOfCore(s *session) {
	s.create("config map", configMap("settings"))
	s.create("secret", &corev1.Secret{
		ObjectMeta: meta("credentials"), Data: map[string][]byte{"a": []byte("1"), "b": []byte("old")}, StringData: map[string]string{"b": "new"},
	})
	s.create("service account", &corev1.ServiceAccount{ObjectMeta: meta("robot")})
	s.create("claim", claim("storage"))
	s.create("budget", budget("budget"))
	s.create("network policy", networkPolicy("policy"))
	s.create("role binding", roleBinding("binding"))
	s.create("autoscaler", autoscaler("autoscaler"))
}

func defaultsOfServices(s *session) {
	plain := s.create("service", service("plain"))
	headless := service("headless")
	headless.Spec.ClusterIP = corev1.ClusterIPNone
	s.create("headless", headless)
	node := service("node")
	node.Spec.Type = corev1.ServiceTypeNodePort
	s.create("node port", node)
	external := &corev1.Service{
		ObjectMeta: meta("external"),
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"},
	}
	s.create("external name", external)
	sticky := service("sticky")
	sticky.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
	s.create("session affinity", sticky)

	again := service("plain")
	again.Namespace = s.namespace
	again.Spec.Ports[0].Port = 81
	s.update("an update keeps the address that it leaves out", again)
	s.note("same address", again.Spec.ClusterIP == plain.(*corev1.Service).Spec.ClusterIP)
}
