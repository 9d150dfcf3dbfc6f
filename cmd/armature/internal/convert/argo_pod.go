package convert

import "strconv"

var (
	// podFields are those of a template, or else of the whole workflow, that are a pod's own.
	podFields = []string{
		"activeDeadlineSeconds", "affinity", "automountServiceAccountToken", "dnsConfig", "dnsPolicy", "hostNetwork",
		"imagePullSecrets", "nodeSelector", "priorityClassName", "schedulerName", "securityContext", "serviceAccountName", "tolerations",
	}
	// podLists are those of both together.
	podLists = []string{"hostAliases", "volumes"}
)

// pod fills in what a template says of the pod, or else the workflow.
func (f *argoFlow) pod(p *place, pod map[string]any) {
	for _, name := range podFields {
		from := p.template.get(name)
		if name != "activeDeadlineSeconds" { // the workflow's is about the workflow
			from = from.orElse(f.spec.get(name))
		}
		if from.has() {
			pod[name] = f.part(from, p)
		}
	}
	if name := f.spec.get("podPriorityClassName"); name.has() && pod["priorityClassName"] == nil {
		pod["priorityClassName"] = f.part(name, p)
	}
	if text, ok := pod["activeDeadlineSeconds"].(string); ok {
		n, err := strconv.ParseInt(text, 10, 64)
		pod["activeDeadlineSeconds"] = n
		if err != nil {
			f.block(p, p.template.get("activeDeadlineSeconds"), "want a number of seconds; it is %q", text)
			delete(pod, "activeDeadlineSeconds")
		}
	}
	for _, name := range podLists {
		var all []any
		for _, from := range []field{f.spec.get(name), p.template.get(name)} {
			list, _ := f.part(from, p).([]any)
			all = append(all, list...)
		}
		if len(all) > 0 {
			pod[name] = all
		}
	}
}

// metadata returns what a template says of the pods' metadata. Nothing runs differently without a label or an annotation, so that one that
// has no value here is left out, and blocks nothing.
func (f *argoFlow) metadata(p *place) map[string]any {
	from := p.template.get("metadata")
	metadata := from.object()
	for _, name := range []string{"labels", "annotations"} {
		if len(from.get(name).keys()) == 0 {
			continue
		}
		kept := map[string]any{}
		for _, key := range from.get(name).keys() {
			entry := from.get(name, key)
			value := fill(entry.take(), p.params)
			key = substitute(key, p.params)
			if found := parameter.FindString(key + " " + valueText(value)); found != "" {
				entry.drop("%s", p.why(found))
				continue
			}
			kept[key] = value
		}
		delete(metadata, name)
		if len(kept) > 0 {
			metadata[name] = kept
		}
	}
	return metadata
}
