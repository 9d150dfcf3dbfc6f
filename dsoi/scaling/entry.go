package scaling

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// Defaults of what a spec leaves open.
const (
	defaultInterval        = 15 * time.Second
	leastInterval          = time.Second
	defaultCoolDown        = 5 * time.Minute
	defaultStorageCoolDown = 6 * time.Hour
	defaultIncrease        = "20%"
)

// replicaRule is what a ReplicaScaling says, checked.
type replicaRule struct {
	min, max  int32
	threshold float64
	coolDown  time.Duration
	source    *v1beta1.Source
}

// storageRule is what a StorageScaling says, checked.
type storageRule struct {
	name      string
	threshold float64
	max       resource.Quantity
	percent   int64 // by which the volumes grow; 0: by step
	step      resource.Quantity
	coolDown  time.Duration
	source    *v1beta1.Source
}

// intervalOf returns how often sources are asked.
func intervalOf(spec *v1beta1.ScalingSpec) (time.Duration, error) {
	every, err := spec.Interval.Parse(defaultInterval)
	if err == nil && every < leastInterval {
		err = fmt.Errorf("is %s; want at least %s", every, leastInterval)
	}
	if err != nil {
		return defaultInterval, fmt.Errorf("interval %w", err)
	}
	return every, nil
}

// readReplicas checks what an entry says about the number of pods.
func readReplicas(spec *v1beta1.ScalingSpec, s *v1beta1.ReplicaScaling) (r replicaRule, err error) {
	least, err := oneOf("minReplica", s.MinReplica, "min", s.Min)
	if err != nil {
		return r, err
	}
	most, err := oneOf("maxReplica", s.MaxReplica, "max", s.Max)
	if err != nil {
		return r, err
	}
	if most == nil {
		return r, fmt.Errorf("maxReplica is missing")
	}
	r.min, r.max = ptr.Deref(least, 1), *most
	if r.min < 0 || r.max < r.min {
		return r, fmt.Errorf("minReplica is %d and maxReplica %d; want 0 <= minReplica <= maxReplica", r.min, r.max)
	}
	if r.threshold, err = s.Threshold.Parse(); err != nil {
		return r, fmt.Errorf("threshold %w", err)
	}
	if r.coolDown, err = s.CoolDown.Parse(defaultCoolDown); err != nil {
		return r, fmt.Errorf("coolDown %w", err)
	}
	if r.source, err = sourceOf(spec, s.Source); err != nil {
		return r, err
	}
	if r.source.Resource == "" {
		return r, nil
	}
	switch {
	case r.threshold > math.MaxInt32 || r.threshold != math.Trunc(r.threshold):
		return r, fmt.Errorf("threshold is %s; of a resource it is a whole percentage", s.Threshold)
	case r.min == 0:
		return r, fmt.Errorf("minReplica is 0; by a resource a node can't be scaled to nothing")
	case r.coolDown > time.Hour:
		return r, fmt.Errorf("coolDown is %s; a HorizontalPodAutoscaler takes at most 1h", r.coolDown)
	}
	return r, nil
}

// oneOf returns the one of a field's two names that is given.
func oneOf(name string, value *int32, alias string, other *int32) (*int32, error) {
	if value != nil && other != nil {
		return nil, fmt.Errorf("%s and %s are names of one field; want one of them", name, alias)
	}
	if value == nil {
		return other, nil
	}
	return value, nil
}

// sourceOf returns an entry's source, or else that of the spec.
func sourceOf(spec *v1beta1.ScalingSpec, own *v1beta1.Source) (*v1beta1.Source, error) {
	if own == nil {
		if spec.External == nil {
			return nil, fmt.Errorf("there is no source; want external of the spec, or a source")
		}
		own = &v1beta1.Source{External: &spec.External.Spec}
	}
	given := 0
	for _, is := range []bool{own.External != nil, own.Prometheus != nil, own.Resource != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return nil, fmt.Errorf("source has %d of external, prometheus and resource; want one", given)
	}
	switch own.Resource {
	case "", "cpu", "memory":
	default:
		return nil, fmt.Errorf("source.resource is %q; want cpu or memory", own.Resource)
	}
	var access *v1beta1.HTTPAccess
	var where string
	switch {
	case own.External != nil:
		access, where = &own.External.HTTPAccess, own.External.URL
	case own.Prometheus != nil:
		access, where = &own.Prometheus.HTTPAccess, own.Prometheus.URL
		if strings.TrimSpace(own.Prometheus.Query) == "" {
			return nil, fmt.Errorf("source.prometheus.query is empty")
		}
	default:
		return own, nil
	}
	if err := checkURL(where); err != nil {
		return nil, err
	}
	if err := checkSecrets(access); err != nil {
		return nil, err
	}
	_, err := timeoutOf(access)
	return own, err
}

// checkSecrets refuses names that no Secret can have. The API server's error for one would look like a failure of the API server, and
// fail the pass of all entries again and again.
func checkSecrets(a *v1beta1.HTTPAccess) error {
	if err := checkSecret("secretRef", a.SecretRef); err != nil || a.TLS == nil {
		return err
	}
	return checkSecret("tls.secretRef", a.TLS.SecretRef)
}

func checkSecret(field string, ref *v1beta1.SecretName) error {
	if ref == nil {
		return nil
	}
	if errs := validation.IsDNS1123Subdomain(ref.Name); len(errs) > 0 {
		return fmt.Errorf("source: %s.name is %q; want the name of a Secret: %s", field, ref.Name, errs[0])
	}
	return nil
}

// readStorage checks what an entry says about volumes.
func readStorage(spec *v1beta1.ScalingSpec, s *v1beta1.StorageScaling) (r storageRule, err error) {
	r.name = s.Name
	if r.threshold, err = s.Threshold.Parse(); err != nil {
		return r, fmt.Errorf("threshold %w", err)
	}
	if r.max, err = s.Max.Parse(); err != nil {
		return r, fmt.Errorf("max %w", err)
	}
	increase := s.Increase
	if increase == "" {
		increase = defaultIncrease
	}
	if percent, ok := strings.CutSuffix(increase, "%"); ok {
		r.percent, err = strconv.ParseInt(percent, 10, 64)
		if err != nil || r.percent < 1 || r.percent > 1000 {
			return r, fmt.Errorf("increase is %q; want a percentage of 1%% to 1000%%, or a quantity such as 10Gi", s.Increase)
		}
	} else if r.step, err = v1beta1.Size(increase).Parse(); err != nil {
		return r, fmt.Errorf("increase is %q; want a percentage such as 20%%, or a quantity such as 10Gi", s.Increase)
	}
	if r.coolDown, err = s.CoolDown.Parse(defaultStorageCoolDown); err != nil {
		return r, fmt.Errorf("coolDown %w", err)
	}
	if r.source, err = sourceOf(spec, s.Source); err == nil && r.source.Resource != "" {
		err = fmt.Errorf("source.resource is %q; volumes need external or prometheus", r.source.Resource)
	}
	return r, err
}
