// Command bench measures Armature on a real API server, and writes what it finds into the pages of docs.
//
//	go run . builder [-sizes 10,100,1000] [-runs 5] [-docs ../docs] [-devcluster ../bin/devcluster]
//	go run . jobs [-jobs 1000] [-nodes 2000] [-big 10000] [-runs 3] [-docs ../docs] [-devcluster ../bin/devcluster]
//	go run . tenants [-before ../bin/armature-before -before-crds DIR] [-docs ../docs] [-devcluster ../bin/devcluster]
//		[-manager ../bin/armature]
//	go run . plans [-benchtime 1s] [-docs ../docs]
//
// Each benchmark is a subcommand and a package of its own in internal; what they share is in internal/lab. Each writes
// one part of docs/benchmarks.md, between its own markers.
package main
