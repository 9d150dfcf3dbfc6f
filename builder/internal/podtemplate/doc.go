// Package podtemplate finds the pod template in an object of any kind and sets a value in it.
//
// It takes an object, typed or unstructured, and changes it in place; it reports false, and changes nothing, if the object has no pod
// template at spec.template, spec.jobTemplate.spec.template or template. What a template is made of otherwise is the author's: the
// operators' own package of this name merges the parameters of a batch into templates.
package podtemplate
