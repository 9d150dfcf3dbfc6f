package deploy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChartAndBasesAreTheSame compares what the chart renders with what kustomize does. Helm adds its own labels, the
// annotation by which it keeps CRDs, and can make the namespace itself.
func TestChartAndBasesAreTheSame(t *testing.T) {
	for base, values := range map[string][]string{
		"../../config/default":                nil,
		"../../config/options/all":            {`networkPolicy.enabled=true`, `metrics.serviceMonitor.enabled=true`, `webhook.enabled=true`},
		"testdata/namespaced":                 {`watchNamespaces=["team-a","team-b"]`},
		"testdata/shard":                      {`selector="api.practice.com/shard=a"`},
		"testdata/webhook-and-network-policy": {`networkPolicy.enabled=true`, `webhook.enabled=true`},
		"../../config/options/all-cert-manager": {`networkPolicy.enabled=true`, `metrics.serviceMonitor.enabled=true`,
			`webhook={"enabled":true,"certificate":{"source":"cert-manager"}}`},
	} {
		t.Run(base, func(t *testing.T) {
			byChart, byBase := chartWith(t, values...), kustomized(t, base)
			delete(byBase, "Namespace /armature-system")
			assert.Equal(t, keys(byBase), keys(byChart))
			for key, o := range byChart {
				if labels, ok := at(o, "metadata", "labels").(object); ok {
					assert.Equal(t, "Helm", labels["app.kubernetes.io/managed-by"], key)
					delete(labels, "app.kubernetes.io/managed-by")
					delete(labels, "helm.sh/chart")
				}
				if annotations, ok := at(o, "metadata", "annotations").(object); ok {
					delete(annotations, "helm.sh/resource-policy")
				}
				assert.Equal(t, byBase[key], o, key)
			}
		})
	}
}

func keys(all map[string]object) []string {
	var names []string
	for key := range all {
		names = append(names, key)
	}
	slices.Sort(names)
	return names
}

func TestLint(t *testing.T) {
	for _, helm := range []string{"helm", "helm3"} {
		out, err := tool(t, helm, "lint", "--strict", chart)
		require.NoError(t, err, out)
	}
}

// Helm 3 renders what Helm 4 does, with whatever values, and refuses what it refuses.
func TestHelm3RendersTheSame(t *testing.T) {
	for _, values := range [][]string{
		nil,
		{`networkPolicy.enabled=true`, `metrics.serviceMonitor.enabled=true`, `webhook.enabled=true`, `pprof.enabled=true`, `kubeAPI={"qps":50,"burst":80}`},
		{`watchNamespaces=["team-a","team-b"]`, `selector="api.practice.com/shard in (a, b)"`, `crds.install=false`},
		{`webhook={"enabled":true,"clientCA":"clients","certificate":{"source":"cert-manager"}}`, `rbac.aggregate=false`, `image.tag="1.0"`},
	} {
		four, err := templateBy(t, "helm", values...)
		require.NoError(t, err, four)
		three, err := templateBy(t, "helm3", values...)
		require.NoError(t, err, three)
		assert.Equal(t, objects(t, four), objects(t, three), values)
	}
	out, err := templateBy(t, "helm3", `replica=3`)
	require.Error(t, err)
	assert.Contains(t, out, "replica")
}

// Whatever a release is called, and Helm lets it be called much, its objects have names that can be.
func TestNames(t *testing.T) {
	for release, name := range map[string]string{
		"armature": "armature", "batch": "batch-armature", "my.armature": "my-armature", "a.b": "a-b-armature",
		strings.Repeat("x", 30) + ".y.z": strings.Repeat("x", 30) + "-armature",
	} {
		out, err := tool(t, "helm", "template", release, chart, "--namespace", "armature-system", "--set", "webhook.enabled=true")
		require.NoError(t, err, out)
		all := objects(t, out)
		assert.Contains(t, all, "Deployment armature-system/"+name)
		assert.Contains(t, all, "Service armature-system/"+name+"-webhook")
	}
}

func TestCRDsStayAndCanBeLeftOut(t *testing.T) {
	crds := func(all map[string]object) (found []object) {
		for key, o := range all {
			if strings.HasPrefix(key, "CustomResourceDefinition ") {
				found = append(found, o)
			}
		}
		return found
	}
	all := crds(chartWith(t))
	assert.Len(t, all, 7)
	for _, crd := range all {
		assert.Equal(t, "keep", at(crd, "metadata", "annotations", "helm.sh/resource-policy"), keyOf(crd))
	}
	assert.Empty(t, crds(chartWith(t, `crds.install=false`)))
}

// An operator that is off has no roles; the manager isn't told to run it.
func TestOperatorsAreSwitchable(t *testing.T) {
	all := chartWith(t, `operators={"daemonjob":false,"fluxjob":false,"minicluster":false,"replicajob":false}`)
	assert.Contains(t, container(t, all)["args"], "--operators=jobflow")
	for key := range all {
		for _, off := range []string{"daemonjob", "fluxjob", "minicluster", "replicajob"} {
			if !strings.HasPrefix(key, "CustomResourceDefinition ") {
				assert.NotContains(t, key, off)
			}
		}
	}
	assert.Contains(t, all, "ClusterRoleBinding /armature-jobflow")
}

// A failed liveness probe restarts the manager, which then fills its caches again: it waits longer than the probe that does no harm.
func TestTheLivenessProbeIsThePatientOne(t *testing.T) {
	c := container(t, chartWith(t))
	liveness, readiness := at(c, "livenessProbe", "timeoutSeconds"), at(c, "readinessProbe", "timeoutSeconds")
	assert.Greater(t, liveness, readiness)
	assert.GreaterOrEqual(t, liveness, float64(5))
}

// In namespaced mode the permissions are given in the namespaces; cluster-wide only those about what is in none.
func TestNamespacedMode(t *testing.T) {
	all := chartWith(t, `watchNamespaces=["team-a","team-b"]`)
	assert.Contains(t, container(t, all)["args"], "--watch-namespaces=team-a,team-b")
	for _, operator := range []string{"daemonjob", "fluxjob", "jobflow", "minicluster", "replicajob"} {
		assert.Contains(t, all, "RoleBinding team-a/armature-"+operator)
		assert.Contains(t, all, "RoleBinding team-b/armature-"+operator)
		assert.NotContains(t, all, "ClusterRoleBinding /armature-"+operator)
	}
	for _, key := range keys(all) {
		if !strings.HasPrefix(key, "ClusterRoleBinding ") || key == "ClusterRoleBinding /armature-metrics" || key == "ClusterRoleBinding /armature-crds" {
			continue
		}
		role := all["ClusterRole /"+at(all[key], "roleRef", "name").(string)]
		for _, rule := range role["rules"].([]any) {
			for _, resource := range rule.(object)["resources"].([]any) {
				assert.Contains(t, []string{"nodes", "namespaces", "priorityclasses", "fluxsetups", "fluxsetups/status", "events"}, resource, key)
			}
		}
	}
}

// The pods are what the Pod Security Standard "restricted" asks for, with a root file system that is read-only.
func TestRestricted(t *testing.T) {
	all := chartWith(t)
	assert.Equal(t, object{"runAsNonRoot": true, "seccompProfile": object{"type": "RuntimeDefault"}},
		at(all["Deployment armature-system/armature"], "spec", "template", "spec", "securityContext"))
	assert.Equal(t, object{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": object{"drop": []any{"ALL"}}},
		container(t, all)["securityContext"])
}

func TestOptions(t *testing.T) {
	plain := keys(chartWith(t, `podDisruptionBudget.enabled=false`, `metrics.enabled=false`, `leaderElection.enabled=false`,
		`replicas=1`, `rollout.maxOwners=0`, `rbac.aggregate=false`, `crds.install=false`, `watchNamespaces=["a"]`, `operators={"daemonjob":false,"fluxjob":false,"minicluster":false,"replicajob":false}`))
	assert.Equal(t, []string{"ClusterRole /armature-crds", "ClusterRole /armature-jobflow", "ClusterRoleBinding /armature-crds", "Deployment armature-system/armature", "RoleBinding a/armature-jobflow", "ServiceAccount armature-system/armature"}, plain)

	foreign := chartWith(t, `rbac.create=false`, `serviceAccount={"create":false,"name":"mine"}`, `crds.install=false`)
	assert.Equal(t, []string{"Deployment armature-system/armature", "PodDisruptionBudget armature-system/armature", "Service armature-system/armature-metrics"}, keys(foreign))
	assert.Equal(t, "mine", at(foreign["Deployment armature-system/armature"], "spec", "template", "spec", "serviceAccountName"))

	digest := "sha256:" + strings.Repeat("0a", 32)
	set := chartWith(t, `image={"repository":"example.com/armature","digest":"`+digest+`"}`, `metrics.certificateSecret="cert"`, `pprof.enabled=true`,
		`kubeAPI={"qps":50,"burst":80}`, `leaderElection={"leaseDuration":"4s","renewDeadline":"3s","retryPeriod":"500ms"}`, `extraArgs=["--log-level=debug"]`)
	assert.Equal(t, "example.com/armature@"+digest, container(t, set)["image"])
	for _, arg := range []string{"--metrics-cert-dir=/etc/armature/metrics", "--pprof-bind-address=127.0.0.1:6060", "--kube-api-qps=50", "--kube-api-burst=80", "--log-level=debug",
		"--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms"} {
		assert.Contains(t, container(t, set)["args"], arg)
	}
}

// With a ConfigMap of authorities the webhook asks for client certificates.
func TestClientsOfTheWebhook(t *testing.T) {
	open := chartWith(t, `webhook.enabled=true`)
	assert.NotContains(t, fmt.Sprint(container(t, open)["args"]), "--webhook-client-ca")
	for _, source := range []string{"self-managed", "cert-manager"} {
		all := chartWith(t, `webhook={"enabled":true,"clientCA":"clients","certificate":{"source":"`+source+`"}}`)
		assert.Contains(t, container(t, all)["args"], "--webhook-client-ca=/etc/armature/webhook-clients/ca.crt")
		assert.Contains(t, container(t, all)["volumeMounts"], object{"name": "webhook-clients", "mountPath": "/etc/armature/webhook-clients", "readOnly": true})
		assert.Contains(t, at(all["Deployment armature-system/armature"], "spec", "template", "spec", "volumes"),
			object{"name": "webhook-clients", "configMap": object{"name": "clients"}})
	}
}

// Without leader election only one manager may work at a time, also during an upgrade.
func TestAnUpgradeWithoutLeaderElectionStopsTheFormerManagerFirst(t *testing.T) {
	strategy := func(values ...string) any {
		return at(chartWith(t, values...)["Deployment armature-system/armature"], "spec", "strategy")
	}
	assert.Equal(t, object{"type": "Recreate"}, strategy(`leaderElection.enabled=false`, `replicas=1`))
	// Otherwise a server-side apply, which is Helm 4's, would leave rollingUpdate beside Recreate, and the API server refuses that.
	assert.NotNil(t, at(strategy(), "rollingUpdate"))
}

// The API server sends reviews to a terminating pod until the proxies have learned of it.
func TestATerminatingPodStillAnswersReviews(t *testing.T) {
	pod := func(values ...string) (lifecycle, grace any) {
		all := chartWith(t, values...)
		return container(t, all)["lifecycle"], at(all["Deployment armature-system/armature"], "spec", "template", "spec", "terminationGracePeriodSeconds")
	}
	lifecycle, grace := pod()
	assert.Nil(t, lifecycle)
	assert.EqualValues(t, 30, grace)
	lifecycle, grace = pod(`webhook.enabled=true`)
	assert.Equal(t, object{"preStop": object{"sleep": object{"seconds": 5.0}}}, lifecycle)
	assert.EqualValues(t, 35, grace)
}

// The notes say which ports are open to all pods.
func TestNotes(t *testing.T) {
	notes := func(values ...string) string {
		args := []string{"install", "armature", chart, "--namespace", "armature-system", "--dry-run=client"}
		for _, value := range values {
			args = append(args, "--set-json", value)
		}
		out, err := tool(t, "helm", args...)
		require.NoError(t, err, out)
		_, text, found := strings.Cut(out, "NOTES:")
		require.True(t, found)
		return text
	}
	const ports, reviews = "Every pod of the cluster reaches the manager's ports", "The webhook answers everyone who reaches its port"
	plain := notes()
	assert.Contains(t, plain, ports)
	assert.NotContains(t, plain, reviews)
	assert.NotContains(t, notes(`networkPolicy.enabled=true`), ports)
	assert.NotContains(t, notes(`metrics.enabled=false`), ports, "there are none")
	assert.Contains(t, notes(`webhook.enabled=true`), reviews)
	assert.NotContains(t, notes(`webhook={"enabled":true,"clientCA":"clients"}`), reviews)
}

func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	for values, says := range map[string]string{
		`replica=3`:                                                   "replica",
		`operators={"jobflows":true}`:                                 "jobflows",
		`replicas="two"`:                                              "replicas",
		`maxConcurrentReconciles=0`:                                   "maxConcurrentReconciles",
		`rollout.maxOwners="many"`:                                    "maxOwners",
		`rollout.maxOwners="0%"`:                                      "maxOwners",
		`kubeAPI.qps=0`:                                               "qps",
		`log.level="loud"`:                                            "level",
		`watchNamespaces=["A"]`:                                       "watchNamespaces",
		`leaderElection.enabled=false`:                                "more than one manager needs leaderElection.enabled",
		`leaderElection.leaseDuration="4.5s"`:                         "leaseDuration",
		`leaderElection.leaseDuration="4500ms"`:                       "leaseDuration",
		`leaderElection.retryPeriod=2`:                                "retryPeriod",
		`leaderElection.leaseDuration="10s"`:                          "leaderElection.leaseDuration must be longer than leaderElection.renewDeadline",
		`leaderElection.renewDeadline="1m"`:                           "leaderElection.leaseDuration must be longer than leaderElection.renewDeadline",
		`leaderElection={"renewDeadline":"2400ms"}`:                   "leaderElection.renewDeadline must be longer than 1.2 times leaderElection.retryPeriod",
		`serviceAccount.create=false`:                                 "serviceAccount.name is needed",
		`webhook={"enabled":true,"certificate":{"source":"given"}}`:   "is needed, since webhook.certificate.source is given",
		`image.digest="sha256:abc"`:                                   "digest",
		`image.repository="armature:1"`:                               "repository",
		`image.tag="a tag"`:                                           "tag",
		`image.pullPolicy="always"`:                                   "pullPolicy",
		`selector="a=b=c"`:                                            "selector",
		`selector="a,"`:                                               "selector",
		`selector="a in b"`:                                           "selector",
		`selector="api.practice.com/shard=a,team in (x, y)"`:          "selector is about the label team; with operators.fluxjob it can only be about api.practice.com/shard",
		`selector="!team"`:                                            "selector is about the label team",
		`kubeAPI.burst=5`:                                             "kubeAPI.burst means nothing without kubeAPI.qps",
		`metrics.port=8081`:                                           "port",
		`metrics={"enabled":false,"serviceMonitor":{"enabled":true}}`: "metrics.serviceMonitor.enabled needs metrics.enabled",
		`webhook.certificate.issuerRef={"kind":"ClusterIssuer"}`:      "issuerRef",
		`podLabels={"app.kubernetes.io/name":"mine"}`:                 "podLabels",
		`resources={"cpu":"1"}`:                                       "resources",
		`serviceAccount.name="Mine"`:                                  "serviceAccount",
		`replicas=-1`:                                                 "replicas",
		`metrics.serviceMonitor.on=yes`:                               "",
		`operators={"daemonjob":false,"fluxjob":false,"jobflow":false,"minicluster":false,"replicajob":false}`: "at least one",
	} {
		out, err := template(t, values)
		require.Error(t, err, values)
		assert.Contains(t, out, says, values)
	}
}
