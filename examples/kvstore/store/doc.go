// Package store is a small distributed store of keys and values. It has nothing to do with operators.
//
//	coordinator  knows which storage nodes there are, from the pods of the cluster, and tells the others
//	storage      keeps values, on disk: each on as many nodes as the property replicas says (2)
//	gateway      what clients talk to: writes to all nodes that are to have a value, reads the newest of theirs
//
// Which nodes have a value follows from its key and the members, by rendezvous hashing: when a member comes or goes, few
// values move. A storage node that starts first takes over what it shall have from the others, and only then is ready;
// one that stops first hands over what it has. So nodes can be replaced one by one without a read being lost.
package store
