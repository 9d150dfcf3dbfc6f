// Package statefulset has the names that the controller of StatefulSets gives to pods and claims.
package statefulset
