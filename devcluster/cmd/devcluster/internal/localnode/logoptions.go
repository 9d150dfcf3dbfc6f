package localnode

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// logOptions reads the query of a request for logs. The generated conversion for
// this is part of the API server's types, which a node does not need otherwise.
func logOptions(q url.Values) (*corev1.PodLogOptions, error) {
	opts := &corev1.PodLogOptions{}
	var errs []error
	for name, field := range map[string]*bool{
		"follow": &opts.Follow, "previous": &opts.Previous, "timestamps": &opts.Timestamps,
	} {
		if value := q.Get(name); value != "" {
			on, err := strconv.ParseBool(value)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %q is neither true nor false", name, value))
			}
			*field = on
		}
	}
	for name, field := range map[string]**int64{
		"tailLines": &opts.TailLines, "sinceSeconds": &opts.SinceSeconds, "limitBytes": &opts.LimitBytes,
	} {
		if value := q.Get(name); value != "" {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				errs = append(errs, fmt.Errorf("%s: %q is not a number from 0", name, value))
			}
			*field = &n
		}
	}
	if value := q.Get("sinceTime"); value != "" {
		at, err := time.Parse(time.RFC3339, value)
		if err != nil {
			errs = append(errs, fmt.Errorf("sinceTime: %q is not an RFC 3339 time", value))
		}
		since := metav1.NewTime(at)
		opts.SinceTime = &since
	}
	return opts, errors.Join(errs...)
}
