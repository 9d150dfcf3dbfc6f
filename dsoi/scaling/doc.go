// Package scaling is the controller of the kinds that scale clusters: by convention <App>Scaling, which embeds the
// types of [github.com/armature-dev/armature/api/dsoi/v1beta1].
//
//	err := (&scaling.Controller[*v1.KVStoreScaling]{Name: "kvstore-scaling", Cluster: &v1.KVStore{}}).Setup(mgr)
//
// It is a controller of its own, so that an endpoint that is slow holds up no upgrade. In each pass it asks the sources
// (sense.go: the only file of the house that talks to something else than an API server), and gives the numbers to a
// plan, which is a pure function: numbers in, decisions out.
//
//	the number of pods   by the subresource scale of the StatefulSet or Deployment, or by a HorizontalPodAutoscaler
//	the size of volumes  by the claims' requests, if their storage class allows that
//
// A decision is first written to the status, with its time, and carried out in the next pass: a crash in between
// neither forgets the time (and with it the coolDown) nor decides twice.
//
// # What an endpoint can't do
//
// It gets a GET with a time limit, to an address that isn't loopback or link-local or another where clouds tell secrets; its answer is
// read up to a limit, and only a number is taken from it: no text of an answer, not even where it redirects to, is told
// in a status or an event, since it could be the Secret that was sent with the question. The Secret goes to the very
// scheme, host and port of the URL only. When an endpoint is down, slow, or answers nonsense, the condition Ready says so
// and the node stays as it is.
package scaling
