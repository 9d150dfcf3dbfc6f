package dsoi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// configVolume is the volume that has a node's configuration.
const configVolume = "config"

func externalFile(name string) string { return "external-" + name + ".json" }

// files returns the files of a node's configuration, and what is wrong with them.
func (a *App[C]) files(cluster C, n Node) (map[string]string, []string) {
	files := map[string]string{}
	var problems []string
	var common, own, override []property
	var data []string
	for _, g := range n.App {
		maps.Copy(files, g.Files)
		if g.Data != "" {
			data = append(data, strings.TrimSuffix(g.Data, "\n")+"\n")
		}
		for _, layer := range []struct {
			field, text string
			into        *[]property
		}{
			{"commonRuntimeProperties", g.CommonRuntimeProperties, &common},
			{"runtimeProperties", g.RuntimeProperties, &own},
			{"overrideProperties", g.OverrideProperties, &override},
		} {
			properties, err := parseProperties(layer.text)
			if err != nil {
				problems = append(problems, fmt.Sprintf("appConfigGroup %q: %s: %s", g.Name, layer.field, err))
			}
			*layer.into = append(*layer.into, properties...)
		}
	}
	if len(data) > 0 {
		files[cmp.Or(a.DataFile, "config")] = strings.Join(data, "")
	}
	if merged := mergeProperties(common, own, override); merged != "" {
		files[cmp.Or(a.PropertiesFile, "runtime.properties")] = merged
	}
	for name, external := range n.External {
		if external.Malformed == nil {
			files[externalFile(name)] = compact(external.Spec)
		}
	}
	if a.Files != nil && len(problems) == 0 {
		a.Files(cluster, n, files)
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		size += len(files[name])
		if errs := validation.IsConfigMapKey(name); len(errs) > 0 {
			problems = append(problems, fmt.Sprintf("node %q: %q can't be the name of a file of its configuration: %s", n.Name, name, errs[0]))
		}
	}
	if size > maxConfiguration {
		problems = append(problems,
			fmt.Sprintf("node %q: its configuration has %d bytes; want at most %d, as in a ConfigMap", n.Name, size, maxConfiguration))
	}
	return files, problems
}

// compact returns JSON without white space, so that only what it says counts.
func compact(raw []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}

// configMap has the files of a node's configuration.
func (r *renderer) configMap(files map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: r.meta(configName(r.node.Workload)), Data: files}
}

// meta is the metadata of an object of the node's.
func (r *renderer) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: r.namespace, Name: name, Labels: r.labels()}
}
