package minicluster

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/quantity"
	"github.com/armature-dev/armature/api/v1alpha1"
)

// Names of the cluster's own volumes. Users' volumes have a prefix, so that they are never called the same.
const (
	scriptsVolume = "entrypoint"
	configVolume  = "flux-config"
	curveVolume   = "curve"
	baseVolume    = "flux-view"
	privateVolume = "flux-private"
	runVolume     = "flux-run"
	userPrefix    = "user-"
)

// sideVolumes are what all containers' scripts need.
func sideVolumes(c *v1alpha1.MiniCluster) []corev1.Volume {
	return []corev1.Volume{
		{Name: scriptsVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: scriptsName(c)}, DefaultMode: ptr.To[int32](0o555), Items: scriptItems(c),
		}}},
		{Name: baseVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
}

// scriptItems are the entry points that there are. The scripts run others if they exist, so that without this list who may
// change ConfigMaps could add one.
func scriptItems(c *v1alpha1.MiniCluster) []corev1.KeyToPath {
	var items []corev1.KeyToPath
	for _, key := range slices.Sorted(maps.Keys(scripts(c))) {
		items = append(items, corev1.KeyToPath{Key: key, Path: key})
	}
	return items
}

// ownVolumes are what the cluster's pods need. The certificate is for its owner only: Flux refuses one that others can
// read.
func ownVolumes(c *v1alpha1.MiniCluster) []corev1.Volume {
	volumes := append(sideVolumes(c), corev1.Volume{Name: privateVolume, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory},
	}})
	if c.Spec.Flux.Disable {
		return volumes
	}
	return append(volumes,
		corev1.Volume{Name: runVolume, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory},
		}},
		corev1.Volume{Name: configVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: configName(c)}, Items: []corev1.KeyToPath{{Key: brokerKey, Path: brokerKey}},
		}}},
		corev1.Volume{Name: curveVolume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: curveName(c), DefaultMode: ptr.To[int32](0o400),
		}}},
	)
}

// ownMounts are those of the container that does the work.
func ownMounts(c *v1alpha1.MiniCluster) []corev1.VolumeMount {
	_, w := worker(c)
	mounts := append(sidecarMounts(c, w), corev1.VolumeMount{Name: privateVolume, MountPath: privateDir(c)})
	if c.Spec.Flux.Disable {
		return mounts
	}
	return append(mounts,
		corev1.VolumeMount{Name: configVolume, MountPath: configDir, ReadOnly: true},
		corev1.VolumeMount{Name: curveVolume, MountPath: curveDir, ReadOnly: true},
	)
}

// sidecarMounts are those of sidecars: what all have, and the broker's socket. A user other than root can't link Flux's
// libraries to where it looks for them (see mc_find_flux in pod.sh), so they are mounted there.
func sidecarMounts(c *v1alpha1.MiniCluster, s *v1alpha1.MiniClusterContainer) []corev1.VolumeMount {
	mounts := sideMounts(c)
	if c.Spec.Flux.Disable {
		return mounts
	}
	mounts = append(mounts, corev1.VolumeMount{Name: runVolume, MountPath: runMount(c)})
	if bringsFlux(c) && isOtherThanRoot(c, s) {
		mounts = append(mounts, corev1.VolumeMount{Name: baseVolume, MountPath: softwareDir, SubPath: "software", ReadOnly: true})
	}
	return mounts
}

// isOtherThanRoot reports whether the spec says that a container's user isn't root.
func isOtherThanRoot(c *v1alpha1.MiniCluster, s *v1alpha1.MiniClusterContainer) bool {
	var user *int64
	var other *bool
	if pod := c.Spec.Pod.SecurityContext; pod != nil {
		user, other = pod.RunAsUser, pod.RunAsNonRoot
	}
	if own := s.SecurityContext; own != nil {
		user, other = cmp.Or(own.RunAsUser, user), cmp.Or(own.RunAsNonRoot, other)
	}
	if user != nil {
		return *user != 0
	}
	return ptr.Deref(other, false)
}

// sideMounts are those of services and of the init container: the certificate is none of their business.
func sideMounts(c *v1alpha1.MiniCluster) []corev1.VolumeMount {
	return []corev1.VolumeMount{
		{Name: scriptsVolume, MountPath: scriptsDir, ReadOnly: true},
		{Name: baseVolume, MountPath: baseDir(c)},
	}
}

// userVolumes returns the volumes that some containers name, each once, by name.
func userVolumes(containers []v1alpha1.MiniClusterContainer) []corev1.Volume {
	all := map[string]v1alpha1.MiniClusterVolume{}
	for i := range containers {
		maps.Copy(all, containers[i].Volumes)
	}
	var volumes []corev1.Volume
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		volumes = append(volumes, corev1.Volume{Name: userPrefix + name, VolumeSource: source(&v)})
	}
	return volumes
}

// userMounts returns the mounts of a container's own volumes, by name.
func userMounts(container *v1alpha1.MiniClusterContainer) []corev1.VolumeMount {
	var mounts []corev1.VolumeMount
	for _, name := range slices.Sorted(maps.Keys(container.Volumes)) {
		v := container.Volumes[name]
		mounts = append(mounts, corev1.VolumeMount{Name: userPrefix + name, MountPath: mountPath(name, &v), ReadOnly: v.ReadOnly})
	}
	return mounts
}

// mountPath is where a volume of a name is mounted.
func mountPath(name string, v *v1alpha1.MiniClusterVolume) string {
	return cmp.Or(v.Path, "/mnt/"+name)
}

// source is what a volume is.
func source(v *v1alpha1.MiniClusterVolume) corev1.VolumeSource {
	switch {
	case v.HostPath != "":
		return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: v.HostPath}}
	case v.ConfigMapName != "":
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: v.ConfigMapName}, Items: items(v),
		}}
	case v.SecretName != "":
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: v.SecretName, Items: items(v)}}
	case v.ClaimName != "":
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.ClaimName, ReadOnly: v.ReadOnly}}
	case v.CSIDriver != "":
		return corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
			Driver: v.CSIDriver, ReadOnly: new(v.ReadOnly), VolumeAttributes: maps.Clone(v.CSIDriverAttributes),
		}}
	default:
		dir := &corev1.EmptyDirVolumeSource{Medium: medium(v.EmptyDirMedium)}
		if limit, err := quantity.Parse(v.EmptyDirSizeLimit); v.EmptyDirSizeLimit != "" && err == nil { // see validate
			dir.SizeLimit = &limit
		}
		return corev1.VolumeSource{EmptyDir: dir}
	}
}

// medium is Kubernetes' name of a medium; flux-operator's manifests write memory.
func medium(name string) corev1.StorageMedium {
	if name == "memory" {
		return corev1.StorageMediumMemory
	}
	return corev1.StorageMedium(name)
}

// items are the keys that are mounted, ordered.
func items(v *v1alpha1.MiniClusterVolume) []corev1.KeyToPath {
	var all []corev1.KeyToPath
	for _, key := range slices.Sorted(maps.Keys(v.Items)) {
		all = append(all, corev1.KeyToPath{Key: key, Path: v.Items[key]})
	}
	return all
}
