// Package scaling is the controller of the kinds that scale clusters: by convention <App>Scaling, which embeds the
// types of [github.com/armature-dev/armature/api/dsoi/v1beta1].
//
//	err := (&scaling.Controller[*v1.KVStoreScaling]{Name: "kvstore-scaling", Cluster: &v1.KVStore{}}).Setup(mgr)
//
// It is a separate controller, so that a slow endpoint delays no upgrade. In each pass it reads the sources (external.go is
// the only file of this repository that sends requests to anything but an API server), and passes the numbers to a plan,
// which is a pure function from numbers to decisions.
//
//	the number of pods   by the subresource scale of the StatefulSet or Deployment, or by a HorizontalPodAutoscaler
//	the size of volumes  by the claims' requests, if their storage class allows that
//
// A decision is first written to the status, with its time, and carried out in the next pass: a crash in between
// neither forgets the time (and with it the coolDown) nor decides twice. A number counts only for as many pods as it was read of: a
// decision that is carried out late is recorded again with the time of the change, and one that is refused for a while may be replaced
// by one for the pods that exist.
//
// # What an endpoint can't do
//
// It gets a GET with a time limit, to an address that isn't loopback, link-local or of a cloud metadata service; its answer is
// read up to a limit, and only a number is taken from it: no status or event contains text of an answer, not even the
// target of a redirect, because it could be the Secret that was sent with the request. The Secret is sent to the scheme,
// host and port of the URL only. When an endpoint is down, slow, or answers nonsense, the condition Ready says so
// and nothing new is decided: the node keeps what was decided on last.
package scaling
