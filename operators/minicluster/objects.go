package minicluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// meta is the metadata of what a cluster has besides its Job.
func meta(c *v1alpha1.MiniCluster, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.Namespace, Name: name, Labels: labels(c)}
}

// prepare returns what the pods need. Kubernetes would let a pod without its ConfigMap wait, but looks for it again only seconds
// later, so the Job is created when everything else exists.
func (p *pass) prepare(o *observed) []builder.Child {
	c := p.c
	children := []builder.Child{builder.Want(scriptsMap(c)), builder.Want(headlessService(c))}
	if !c.Spec.Flux.Disable {
		children = append(children, builder.Want(configMap(c)))
		if !p.withholdsCertificate(o) && !p.isCertificateGone() {
			children = append(children, p.certificate())
		}
	}
	if p.mayServe(o) {
		children = append(children, builder.Want(services(c)))
	}
	return children
}

// mayServe reports whether the cluster has services that may run now.
func (p *pass) mayServe(o *observed) bool { return len(p.c.Spec.Services) > 0 && !p.mustRest(o) }

// mustRest reports whether no pod of the cluster may run. In a queue of Kueue the services run while Kueue lets the Job run: Kueue doesn't
// count their pod, but they use nothing of the cluster before the work is admitted.
func (p *pass) mustRest(o *observed) bool {
	return p.c.Spec.Suspend || p.isQueued(o) && (o.job == nil || isSuspended(o.job))
}

// certificate returns the Secret: that of the spec, the existing one, or a new one.
func (p *pass) certificate() builder.Child {
	if own := p.c.Spec.Flux.CurveCert; own != "" {
		return builder.Want(curveSecret(p.c, []byte(own)))
	}
	if secret := named[*corev1.Secret](p.view, curveName(p.c)); secret != nil {
		return builder.Want(curveSecret(p.c, secret.Data[curveKey]), builder.CreateOnly())
	}
	return builder.Want(curveSecret(p.c, p.NewCertificate(p.c.Name)), builder.CreateOnly())
}

// withholdsCertificate reports whether the certificate is gone while brokers have it. They would refuse brokers that start with another
// one, so the operator makes one only once they have been stopped.
func (p *pass) withholdsCertificate(o *observed) bool {
	flux := &p.c.Spec.Flux
	return o.haveCertificate() && !flux.Disable && flux.CurveCert == "" &&
		(named[*corev1.Secret](p.view, curveName(p.c)) == nil || p.isCertificateGone())
}

// isCertificateGone reports whether the Secret exists, and the certificate that the operator made is no longer in it. Such a Secret isn't
// desired: the builder prunes it, and a later pass creates another one.
func (p *pass) isCertificateGone() bool {
	secret := named[*corev1.Secret](p.view, curveName(p.c))
	return p.c.Spec.Flux.CurveCert == "" && secret != nil && len(secret.Data[curveKey]) == 0
}

// isCertificateLost reports whether a cluster that runs on has lost its certificate.
func (p *pass) isCertificateLost(o *observed, d decision) bool {
	return d.action == actionRun && p.withholdsCertificate(o)
}

// named returns the owner's child of a name, or nil if there is none or it terminates.
func named[T client.Object](view builder.View, name string) (child T) {
	if found, ok := builder.Lookup[T](view, name); ok && found.GetDeletionTimestamp() == nil {
		return found
	}
	return child
}

// scriptsMap renders the ConfigMap with the entry points.
func scriptsMap(c *v1alpha1.MiniCluster) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(c, scriptsName(c)), Data: scripts(c)}
}

// configMap renders the ConfigMap with the brokers' configuration.
func configMap(c *v1alpha1.MiniCluster) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(c, configName(c)), Data: map[string]string{brokerKey: brokerConfig(c)}}
}

// curveSecret renders the Secret with the certificate.
func curveSecret(c *v1alpha1.MiniCluster, certificate []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: meta(c, curveName(c)),
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{curveKey: certificate},
	}
}

// secretsOf returns the names of the Secrets that a cluster may have. One that has ended needs none, and has one only to be deleted.
func secretsOf(c *v1alpha1.MiniCluster) []string {
	ended := c.Status.CompletionTime != nil && !c.Spec.Cleanup
	if ended || c.DeletionTimestamp != nil || !lifecycle.IsOurs(c.Spec.ManagedBy) {
		return nil
	}
	return []string{curveName(c)}
}

// headlessService renders the Service that gives the pods their DNS names, from before they are ready: brokers must
// find each other in order to become so.
func headlessService(c *v1alpha1.MiniCluster) *corev1.Service {
	selector := map[string]string{LabelUID: string(c.UID)}
	if c.Spec.Flux.MinimalService {
		selector["batch.kubernetes.io/job-completion-index"] = "0"
	}
	return &corev1.Service{
		ObjectMeta: meta(c, headlessName(c)),
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 selector,
			Ports: []corev1.ServicePort{
				{Name: "flux", Port: brokerPort, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(brokerPort)},
			},
		},
	}
}

// services renders what runs the services' pod: one, never two at a time, and another when it is lost.
func services(c *v1alpha1.MiniCluster) *appsv1.Deployment {
	own := map[string]string{LabelMiniCluster: c.Name, LabelUID: string(c.UID), LabelRole: "services"}
	ours := map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy} // only pods with it are in the manager's memory
	spec := podSpec(c, c.Spec.Services)
	spec.Hostname = servicesName(c)
	spec.Volumes = append(spec.Volumes, sideVolumes(c)...)
	for i := range c.Spec.Services {
		spec.Containers = append(spec.Containers, service(c, &c.Spec.Services[i]))
	}
	return &appsv1.Deployment{
		ObjectMeta: meta(c, servicesName(c)),
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Selector: &metav1.LabelSelector{MatchLabels: own},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      podtemplate.Merge(own, podtemplate.Merge(ours, c.Spec.Pod.Labels)),
					Annotations: c.Spec.Pod.Annotations,
				},
				Spec: spec,
			},
		},
	}
}
