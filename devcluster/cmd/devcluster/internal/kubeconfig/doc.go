// Package kubeconfig writes kubeconfig files: one for each component with its own identity, the
// administrator's, and our context inside a file that belongs to the user.
package kubeconfig
