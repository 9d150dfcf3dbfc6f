package admission

import (
	"context"
	"crypto/tls"
	"net/http"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/api/quantity"
	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/daemonjob"
	queues "github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/operators/replicajob"
)

// kind is a kind that has a plan, whatever its type.
type kind struct {
	register func(webhook.Server, *runtime.Scheme, func(http.Handler) http.Handler)
	judge    func(obj *unstructured.Unstructured) error
}

// kinds are all kinds that have a plan.
var kinds = map[string]kind{
	"DaemonJob":   kindOf("DaemonJob", daemonjob.Plan),
	"FluxJob":     kindOf("FluxJob", FluxJobPlan),
	"FluxSetup":   kindOf("FluxSetup", queues.Plan),
	"JobFlow":     kindOf("JobFlow", jobflow.Plan),
	"MiniCluster": kindOf("MiniCluster", MiniClusterPlan),
	"ReplicaJob":  kindOf("ReplicaJob", replicajob.ReplicaJobs.Plan),
}

// Register adds the webhooks of all kinds to a server: those of kinds that its manager doesn't run, too. That of JobFlows is at
// the path /validate/jobflow. Reviews of these clients are judged, one at a time. The scheme must know the kinds of [v1alpha1].
func Register(server webhook.Server, scheme *runtime.Scheme, from Clients) {
	t := newTurns()
	for _, k := range kinds {
		k.register(server, scheme, func(next http.Handler) http.Handler { return from.only(t.around(next)) })
	}
}

// Judge says of an object that isn't on a server what its webhook would: the error is an Invalid, as the API server returns
// it. An object that can't be read as its kind is an error too, and a kind without a plan is never wrong.
func Judge(obj *unstructured.Unstructured) error {
	k, ok := kinds[obj.GetKind()]
	if !ok || obj.GroupVersionKind().GroupVersion() != v1alpha1.GroupVersion {
		return nil
	}
	return k.judge(obj)
}

// MiniClusterPlan is the plan of MiniClusters, for those who don't carry it out: they need no certificate.
func MiniClusterPlan(c *v1alpha1.MiniCluster, seen builder.View) builder.Plan[*v1alpha1.MiniCluster] {
	planner := minicluster.Planner{NewCertificate: func(string) []byte { return nil }}
	return planner.Plan(c, seen)
}

func kindOf[S any, T interface {
	*S
	builder.Conditioned
}](name string, plan builder.PlanFunc[T]) kind {
	return kind{
		register: func(server webhook.Server, scheme *runtime.Scheme, around func(http.Handler) http.Handler) {
			hook := admission.WithValidator(scheme, New(name, plan))
			hook.Handler = bounded{hook.Handler, reflect.TypeFor[S]()}
			server.Register("/validate/"+strings.ToLower(name), around(hook))
		},
		judge: func(u *unstructured.Unstructured) error {
			obj := T(new(S))
			if err := quantity.CheckValue(u.Object, reflect.TypeFor[S]()); err != nil {
				return err
			}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
				return err
			}
			_, err := New(name, plan).judge(context.Background(), obj)
			return err
		},
	}
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
