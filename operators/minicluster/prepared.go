package minicluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// isPrepared reports whether all that the pods need exists, with the content that the present spec gives it.
func (p *pass) isPrepared(o *observed) bool { return p.obstacle(o) == "" }

// waitsFor says which object the Job waits for, and why. It is empty if the object is missing: the same pass creates it, or reports why it
// can't.
func (p *pass) waitsFor(o *observed) string {
	if obstacle := p.obstacle(o); obstacle != "" && obstacle != missing {
		return "waits for " + obstacle
	}
	return ""
}

// missing is the obstacle that an object doesn't exist.
const missing = "missing"

// obstacle says which object isn't yet as the pods need it, and why. It is empty if all are.
func (p *pass) obstacle(o *observed) string {
	c := p.c
	found := cmp.Or(
		obstacleOf(p.view, "ConfigMap", scriptsName(c), func(m *corev1.ConfigMap) string { return differingFile(m, files(c)) }),
		obstacleOf(p.view, "Service", headlessName(c), func(*corev1.Service) string { return "" }),
	)
	if p.mayServe(o) {
		found = cmp.Or(found, obstacleOf(p.view, "Deployment", servicesName(c), func(*appsv1.Deployment) string { return "" }))
	}
	if c.Spec.Flux.Disable {
		return found
	}
	return cmp.Or(found,
		obstacleOf(p.view, "ConfigMap", configName(c), func(m *corev1.ConfigMap) string { return differingFile(m, configMap(c).Data) }),
		obstacleOf(p.view, "Secret", curveName(c), p.differingCertificate),
	)
}

// obstacleOf says why the owner's child of a name isn't yet as the pods need it. The function says what differs, or "".
func obstacleOf[T client.Object](view builder.View, kind, name string, differing func(T) string) string {
	child, exists := builder.Lookup[T](view, name)
	if !exists {
		return missing
	}
	why := "it is being deleted"
	if child.GetDeletionTimestamp() == nil {
		why = differing(child)
	}
	if why == "" {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", kind, name, why)
}

// differingFile says which of these files a ConfigMap has otherwise, or "". It must not have the empty ones. Others aren't ours.
func differingFile(found *corev1.ConfigMap, files map[string]string) string {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		switch {
		case found.Data[file] == files[file]:
		case files[file] == "": // the builder removes only what no other field manager has set
			return fmt.Sprintf("it has a key %s, and the spec has no such script; remove the key", file)
		default:
			return fmt.Sprintf("its key %s isn't that of the spec", file)
		}
	}
	return ""
}

// differingCertificate says whether the Secret is without the certificate of the spec, or, if the spec has none, without any.
func (p *pass) differingCertificate(secret *corev1.Secret) string {
	switch found, own := string(secret.Data[curveKey]), p.c.Spec.Flux.CurveCert; {
	case found == "":
		return "its key " + curveKey + " is empty"
	case own != "" && found != own:
		return "its key " + curveKey + " isn't flux.curveCert of the spec"
	}
	return ""
}
