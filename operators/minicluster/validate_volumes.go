package minicluster

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/quantity"
	"github.com/armature-dev/armature/api/v1alpha1"
)

// validateVolumes validates what containers mount. Volumes of one name are one volume, of the cluster's pods as of the
// services'.
func validateVolumes(c *v1alpha1.MiniCluster, spec *field.Path) field.ErrorList {
	taken := []string{scriptsDir, configDir, curveDir, baseDir(c), privateDir(c), runMount(c)}
	errs := validateVolumesOf(c.Spec.Containers, taken, spec.Child("containers"))
	if base := baseDir(c); strings.HasPrefix(base+"/", ownDir+"/") {
		errs = append(errs, field.Invalid(spec.Child("flux", "container", "mountPath"), base,
			ownDir+" is where the operator's own files are mounted"))
	}
	return append(errs, validateVolumesOf(c.Spec.Services, taken, spec.Child("services"))...)
}

func validateVolumesOf(containers []v1alpha1.MiniClusterContainer, taken []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := map[string]v1alpha1.MiniClusterVolume{}
	for i := range containers {
		mounted := slices.Clone(taken)
		for _, name := range slices.Sorted(maps.Keys(containers[i].Volumes)) {
			v := containers[i].Volumes[name]
			at := path.Index(i).Child("volumes").Key(name)
			errs = append(errs, validateVolume(name, &v, at)...)
			where := mountPath(name, &v)
			if slices.Contains(mounted, where) {
				errs = append(errs, field.Duplicate(at.Child("path"), where))
			}
			mounted = append(mounted, where)
			v.Path, v.ReadOnly = "", v.ReadOnly && (v.ClaimName != "" || v.CSIDriver != "") // these mount it read-only as a whole
			if before, ok := known[name]; ok && !sameVolume(before, v) {
				errs = append(errs, field.Invalid(at, name, "another container has a volume of this name that is something else"))
			}
			known[name] = v
		}
	}
	return errs
}

func validateVolume(name string, v *v1alpha1.MiniClusterVolume, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, detail := range validation.IsDNS1123Label(userPrefix + name) {
		errs = append(errs, field.Invalid(path, name, detail))
	}
	kinds := 0
	for _, set := range []bool{v.HostPath != "", v.ConfigMapName != "", v.SecretName != "", v.ClaimName != "", v.EmptyDir, v.CSIDriver != ""} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		errs = append(errs, field.Invalid(path, kinds,
			"exactly one of hostPath, configMapName, secretName, claimName, emptyDir and csiDriver must be set"))
	}
	if v.Path == "" && v.ConfigMapName == "" && v.SecretName == "" {
		errs = append(errs, field.Required(path.Child("path"), "where to mount it"))
	}
	if v.ConfigMapName == "" && v.SecretName == "" {
		errs = append(errs, forbidden(path, map[string]bool{"items": len(v.Items) > 0}, "it is for ConfigMaps and Secrets")...)
	}
	if !v.EmptyDir {
		errs = append(errs, forbidden(path, map[string]bool{
			"emptyDirMedium": v.EmptyDirMedium != "", "emptyDirSizeLimit": v.EmptyDirSizeLimit != "",
		}, "it needs emptyDir: true")...)
	} else if _, err := quantity.Parse(v.EmptyDirSizeLimit); v.EmptyDirSizeLimit != "" && err != nil {
		errs = append(errs, field.Invalid(path.Child("emptyDirSizeLimit"), v.EmptyDirSizeLimit, err.Error()))
	}
	if v.CSIDriver == "" {
		errs = append(errs, forbidden(path, map[string]bool{"csiDriverAttributes": len(v.CSIDriverAttributes) > 0}, "it needs csiDriver")...)
	}
	return errs
}

func sameVolume(a, b v1alpha1.MiniClusterVolume) bool {
	sameMaps := maps.Equal(a.Items, b.Items) && maps.Equal(a.CSIDriverAttributes, b.CSIDriverAttributes)
	a.Items, b.Items, a.CSIDriverAttributes, b.CSIDriverAttributes = nil, nil, nil, nil
	return sameMaps && a.HostPath == b.HostPath && a.ConfigMapName == b.ConfigMapName && a.SecretName == b.SecretName &&
		a.ClaimName == b.ClaimName && a.EmptyDir == b.EmptyDir && a.EmptyDirMedium == b.EmptyDirMedium &&
		a.EmptyDirSizeLimit == b.EmptyDirSizeLimit && a.CSIDriver == b.CSIDriver && a.ReadOnly == b.ReadOnly
}
