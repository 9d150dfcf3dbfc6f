// Package replicas measures the engine of replica jobs side by side with github.com/kubeflow/common, which it takes the
// place of, and with a client that makes the same pods by itself.
//
// All three run on one devcluster with simulated nodes, in turns. A job has N workers that run for a second and have
// succeeded when all have; at its end everything that was made is deleted. The client ("bare") knows the pods beforehand,
// with as many labels and an owner, makes them 32 at a time and only watches: nothing that needs pods can be faster than
// it, and it cleans nothing up.
// Kubeflow's library runs as its operators did, with one worker and informers, in this process; like Armature it may make
// as many requests as it likes, where its operators had a limit of 20 a second.
//
// Counted are the requests up to the end of the clean-up, but for watches and the first lists of caches.
package replicas
