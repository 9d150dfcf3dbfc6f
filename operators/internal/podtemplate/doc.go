// Package podtemplate renders what a batch says for all of its pods into the pod template of one Job.
//
// The rule throughout: the batch adds, and where both set the same key, the template wins. Functions change the template
// they are given, which must be a copy, and share nothing with their other arguments.
package podtemplate
