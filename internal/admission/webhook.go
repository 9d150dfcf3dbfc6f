package admission

import (
	"crypto/tls"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/daemonjob"
	queues "github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/operators/replicajob"
)

// Register adds the webhooks of all kinds to a server: those of kinds that its manager doesn't run, too. That of JobFlows is at
// the path /validate/jobflow. The scheme must know the kinds of [v1alpha1].
func Register(server webhook.Server, scheme *runtime.Scheme) {
	add(server, scheme, "DaemonJob", daemonjob.Plan)
	add(server, scheme, "FluxJob", FluxJobPlan)
	add(server, scheme, "FluxSetup", queues.Plan)
	add(server, scheme, "JobFlow", jobflow.Plan)
	add(server, scheme, "MiniCluster", MiniClusterPlan)
	add(server, scheme, "ReplicaJob", replicajob.ReplicaJobs.Plan)
}

// MiniClusterPlan is the plan of MiniClusters, for those who don't carry it out: they need no certificate.
func MiniClusterPlan(c *v1alpha1.MiniCluster, seen builder.View) builder.Plan[*v1alpha1.MiniCluster] {
	planner := minicluster.Planner{NewCertificate: func(string) []byte { return nil }}
	return planner.Plan(c, seen)
}

func add[T builder.Conditioned](server webhook.Server, scheme *runtime.Scheme, kind string, plan builder.PlanFunc[T]) {
	server.Register("/validate/"+strings.ToLower(kind), admission.WithValidator(scheme, New(kind, plan)))
}

// New returns the validator of a kind.
func New[T builder.Conditioned](kind string, plan builder.PlanFunc[T]) Validator[T] {
	return Validator[T]{kind: kind, plan: plan, now: time.Now}
}

// Server returns the server of the webhooks. The directory has its tls.crt and tls.key, which are read again when they
// change, unless one of the functions gives the server another source of certificates.
func Server(port int, certDir string, change ...func(*tls.Config)) webhook.Server {
	return webhook.NewServer(webhook.Options{Port: port, CertDir: certDir, TLSOpts: change})
}
