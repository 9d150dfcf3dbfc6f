// Package lint checks manifests of Armature's kinds without a cluster, with the results of a cluster with the CRDs and the webhook.
//
// It has no rules of its own but one, against fields that the text has twice. It does what the API server does with a new
// object, in the same order and with the same libraries: unknown fields, defaults, the CRD's schema, its CEL rules. Then the
// operator's plan is asked what it makes of the object, as the webhook asks it (package admission).
package lint
