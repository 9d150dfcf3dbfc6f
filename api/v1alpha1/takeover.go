package v1alpha1

import (
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// The functions of this file take over statuses that a version before v0.1.0 wrote: a field with a value that the operators
// can't compute again is also read under its former name. Operators write the new name and clear the former one. A value
// under the former name therefore means that the earlier version wrote last, and it applies.
//
// A status that was decoded from former names is encoded with them alone, as it is stored: a patch between it and the status
// that an operator plans has to contain the new names.
//
// v0.2 removes this file and the fields that it reads.

// UnmarshalJSON decodes a status.
func (s *FluxJobStatus) UnmarshalJSON(text []byte) error {
	type plain FluxJobStatus
	if err := utiljson.Unmarshal(text, (*plain)(s)); err != nil {
		return err
	}
	if s.Runs != 0 {
		s.Attempts = s.Runs
	}
	return nil
}

// UnmarshalJSON decodes a status.
func (s *FluxSetupStatus) UnmarshalJSON(text []byte) error {
	type plain FluxSetupStatus
	if err := utiljson.Unmarshal(text, (*plain)(s)); err != nil {
		return err
	}
	for i := range s.Reservations {
		if r := &s.Reservations[i]; r.Run != 0 {
			r.Attempt = r.Run
		}
	}
	for i := range s.Usage {
		if u := &s.Usage[i]; u.Largest != nil {
			u.Maximum = *u.Largest
		}
	}
	if len(s.Line) > 0 {
		s.Queue = s.Line
	}
	return nil
}

// UnmarshalJSON decodes a status.
func (s *JobFlowStatus) UnmarshalJSON(text []byte) error {
	type plain JobFlowStatus
	if err := utiljson.Unmarshal(text, (*plain)(s)); err != nil {
		return err
	}
	if s.Marks != "" {
		s.NodeDigests = s.Marks
	}
	for i := range s.Items {
		if items := &s.Items[i]; items.Of != "" {
			items.Digest = items.Of
		}
	}
	return nil
}

// MarshalJSON encodes a status.
func (s FluxJobStatus) MarshalJSON() ([]byte, error) {
	type plain FluxJobStatus
	if s.Runs != 0 {
		s.Attempts = 0
	}
	return json.Marshal(plain(s))
}

// MarshalJSON encodes a status.
func (s FluxSetupStatus) MarshalJSON() ([]byte, error) {
	type plain FluxSetupStatus
	if len(s.Line) > 0 {
		s.Queue = nil
	}
	return json.Marshal(plain(s))
}

// MarshalJSON encodes a status.
func (s JobFlowStatus) MarshalJSON() ([]byte, error) {
	type plain JobFlowStatus
	if s.Marks != "" {
		s.NodeDigests = ""
	}
	return json.Marshal(plain(s))
}
