package main

import (
	"reflect"
	"regexp"
	"testing"
)

func TestBoundNarrowsWhatGoDoesNotRead(t *testing.T) {
	schema := func() map[string]any {
		return map[string]any{"properties": map[string]any{
			"time":     map[string]any{"type": "string", "format": "date-time"},
			"quantity": map[string]any{"x-kubernetes-int-or-string": true, "pattern": anyQuantity},
			"port":     map[string]any{"x-kubernetes-int-or-string": true},
			"share":    map[string]any{"x-kubernetes-int-or-string": true, "minimum": 1, "pattern": "%$"},
			"memory":   map[string]any{"x-kubernetes-int-or-string": true, "pattern": "^[0-9]+Ki$"},
			"name":     map[string]any{"type": "string"},
		}}
	}
	want := map[string]any{"properties": map[string]any{
		"time":     map[string]any{"type": "string", "format": "date-time", "pattern": aTime, "minItems": 1, "maxItems": 0},
		"quantity": map[string]any{"x-kubernetes-int-or-string": true, "pattern": aQuantity, "maxLength": 64},
		"port":     map[string]any{"x-kubernetes-int-or-string": true, "minimum": -2147483648, "maximum": 2147483647},
		"share":    map[string]any{"x-kubernetes-int-or-string": true, "minimum": 1, "maximum": 2147483647, "pattern": "%$"},
		"memory":   map[string]any{"x-kubernetes-int-or-string": true, "pattern": "^[0-9]+Ki$"},
		"name":     map[string]any{"type": "string"},
	}}
	got := schema()
	for range 2 { // the second run changes nothing
		bound(got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}

func TestPatternsAdmitWhatKubernetesPrints(t *testing.T) {
	for pattern, cases := range map[string]map[string]bool{
		aTime: {
			"2026-01-02T03:04:05Z": true, "2026-01-02T03:04:05.123456Z": true, "2026-01-02T03:04:05+02:00": true,
			"2026-01-02t03:04:05z": false, "2026-01-02T03:04:05+99:00": false, "2026-01-02T03:04:60Z": false, "2026-01-02": false,
		},
		aQuantity: {
			"1": true, "0.5": true, "100m": true, "1Gi": true, "1e3": true, "1E-3": true, "12E18": true, "+1": true, ".5": true,
			"1E100": false, "1E-999999999": false, "1E1.5": false, "1E": true, "1Kib": false,
		},
	} {
		for text, want := range cases {
			if got := regexp.MustCompile(pattern).MatchString(text); got != want {
				t.Errorf("%q: got %v", text, got)
			}
		}
	}
}
