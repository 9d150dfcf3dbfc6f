// Package convert makes manifests of Armature's kinds of those of others: Volcano's JobFlows, Argo's Workflows, kubeflow's
// jobs and JobSets.
//
// Nothing is dropped silently. A [field] of the original is taken when it has been carried over, or noted with the reason why it
// could not be; what is left in the end, since a converter doesn't know it, is noted too ([source.rest]). So a field that a
// later version of the original adds can't get lost. Left out without a note is only what isn't the author's: the status, and
// the metadata that servers and kubectl write.
package convert
